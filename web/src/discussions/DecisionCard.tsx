import { memo } from "react";
import { Cut, Spent } from "../ui/Spent";
import { CardHead } from "./CardHead";
import { HOW, type Entry, type View } from "./words";

/** What the facilitator decided, why, and how the answer was read. */
export const DecisionCard = memo(
  function DecisionCard({ entry, view }: { entry: Entry; view: View }) {
    const { decision } = entry;
    if (!decision) return null;
    const next = view.participants.find((seat) => seat.id === decision.nextParticipantId);
    const how = decision.how === "parsed" ? undefined : HOW[decision.how];
    return (
      <article
        className="decision-card"
        data-role="moderator"
        data-entry={entry.number}
        tabIndex={-1}
        aria-label={`${entry.agentName}, Facilitator`}
      >
        <CardHead
          name={entry.agentName}
          role="moderator"
          model={entry.model}
          at={entry.at}
          latencyMs={entry.latencyMs}
        />
        <p className="decision">
          {decision.decision === "synthesize" ? (
            "Ends the discussion and concludes."
          ) : (
            <>
              Gives the floor to <strong data-role={next?.role}>{next?.name ?? "the next"}</strong>
              {entry.question !== undefined && ":"}
            </>
          )}
        </p>
        {entry.question !== undefined && (
          <blockquote className="question">{entry.question}</blockquote>
        )}
        {decision.reasoning !== "" && <p className="reasoning muted">{decision.reasoning}</p>}
        {how && (
          <div className="how">
            <span
              className={`badge ${decision.how === "fallback" ? "warn" : ""}`}
              title={how.meaning}
            >
              {how.word}
            </span>
            {decision.how !== "person" && (
              <span className="muted small">{decision.note ?? how.meaning}</span>
            )}
            {decision.raw !== undefined && (
              <details>
                <summary>Raw reply</summary>
                <pre tabIndex={0} role="region" aria-label="Raw reply">
                  {decision.raw}
                </pre>
              </details>
            )}
          </div>
        )}
        <Cut of={entry} />
        {entry.usage && <Spent className="spent" usage={entry.usage} />}
      </article>
    );
  },
  (before, now) =>
    before.entry === now.entry && before.view.participants.length === now.view.participants.length,
);
