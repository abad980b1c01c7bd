import { Glyph } from "../ui/icons";
import { some } from "../ui/time";
import { shortModel } from "../ui/ModelSelect";
import type { Agent } from "../library/useAgents";
import { seatName, type Choice, type Limits, type Seated } from "./draft";
import { FORMATS, roleName, TIERS, type Tier } from "./words";

/** What will happen, as far as it is settled. */
interface Props {
  draft: Seated;
  agents: readonly Agent[];
  limits: Limits;
}

export function Summary({ draft, agents, limits }: Props) {
  const leader = seatName(draft.leader, agents);
  return (
    <aside className="wizard-summary card stack" aria-label="Summary">
      <p className="eyebrow">{FORMATS[draft.format]}</p>
      <p className={draft.topic.trim() === "" ? "summary-topic muted" : "summary-topic"}>
        {draft.topic.trim() === "" ? "No topic yet" : draft.topic}
      </p>
      <ul className="summary-seats">
        <li>
          <Glyph role={draft.leader.kind === "person" ? "person" : "moderator"} small />
          <span className="seat-name">{leader || "No one"}</span>
          <span className="muted small">leads{by(draft.leader.choice || draft.choice)}</span>
        </li>
        {draft.seats.map((seat) => (
          <li key={seat.key}>
            <Glyph role={seat.kind === "person" ? "person" : seat.role} small />
            <span className="seat-name">{seatName(seat, agents)}</span>
            <span className="muted small">
              {seat.kind === "person" && "person, "}
              {roleName(seat.role).toLowerCase()}
              {seat.kind !== "person" && by(seat.choice || draft.choice)}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted small">
        {draft.isFixed
          ? `At most ${some(Number(draft.rounds) || 0, "round")}`
          : `Up to ${some(limits.roundsUsual, "round")}, as the facilitator decides`}
        {draft.allowance.tokens.trim() !== "" && `, ${draft.allowance.tokens} tokens at most`}
        {draft.files.length > 0 && `. With ${some(draft.files.length, "file")}`}
      </p>
    </aside>
  );
}

function by(choice: Choice): string {
  if (choice.startsWith("tier:")) return `, ${TIERS[choice.slice(5) as Tier].toLowerCase()}`;
  if (choice.startsWith("model:")) return `, ${shortModel(choice.slice(6))}`;
  return "";
}
