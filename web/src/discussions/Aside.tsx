import type { ReactNode } from "react";
import { budgetInWords } from "../ui/Budget";
import { range, roughly } from "../ui/estimate";
import { money } from "../ui/money";
import { Glyph } from "../ui/icons";
import { count, duration, some } from "../ui/time";
import type { Known } from "./data";
import { LaneMap } from "./LaneMap";
import { useNarrow } from "../ui/narrow";
import { shortModel } from "../ui/ModelSelect";
import { roleName, type Seat, type View } from "./words";

interface Props {
  known: Known;
  onJump: (number: number) => void;
}

/** The map, who is here, and what it took. On a narrow page it is folded above the timeline. */
export function Aside({ known, onJump }: Props) {
  const isNarrow = useNarrow("(max-width: 720px)");
  const inside = (
    <>
      <Panel title="Map">
        <LaneMap known={known} onJump={onJump} />
      </Panel>
      <Panel title="Who is here">
        <Seats view={known.view} />
      </Panel>
      <Panel title="Usage">
        <Comparison view={known.view} />
      </Panel>
    </>
  );
  return (
    <aside className="discussion-aside no-print" aria-label="About this discussion">
      {isNarrow ? (
        <details className="card">
          <summary>Map, participants and usage</summary>
          {inside}
        </details>
      ) : (
        inside
      )}
    </aside>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="aside-panel" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Seats({ view }: { view: View }) {
  return (
    <ul className="seats">
      <SeatLine seat={view.moderator} role="moderator" isNow={isNow(view, view.moderator)} />
      {view.participants.map((seat) => (
        <SeatLine
          key={seat.id}
          seat={seat}
          role={seat.role ?? "participant"}
          isNow={isNow(view, seat)}
        />
      ))}
    </ul>
  );
}

function isNow(view: View, seat: Seat): boolean {
  const runs = view.status === "active" || view.status === "pausing";
  return runs && view.step?.participantId === seat.id;
}

function SeatLine({ seat, role, isNow }: { seat: Seat; role: string; isNow: boolean }) {
  const used = (seat.usage.inputTokens ?? 0) + (seat.usage.outputTokens ?? 0);
  return (
    <li data-role={role}>
      <Glyph role={role} small />
      <span className="seat-who">
        <span className="seat-name">
          {seat.name}
          {isNow && (
            <span className="dot live">
              <span className="unseen">, now</span>
            </span>
          )}
        </span>
        <span className="muted small">
          {roleName(role)}
          {seat.person ? ", a person" : seat.model !== undefined && `, ${shortModel(seat.model)}`}
        </span>
      </span>
      <span className="muted small number">
        {seat.calls > 0 && some(seat.calls, "call")}
        {used > 0 && <span>{count(used)} tokens</span>}
      </span>
    </li>
  );
}

function tokensOf({ actual }: View): number | undefined {
  if (actual.inputTokens === undefined && actual.outputTokens === undefined) return undefined;
  return (actual.inputTokens ?? 0) + (actual.outputTokens ?? 0);
}

/** What it was thought to take, beside what it took. */
function Comparison({ view }: { view: View }) {
  const { estimate, actual } = view;
  const tokens = tokensOf(view);
  const both = estimate && {
    low: estimate.inputTokens.low + estimate.outputTokens.low,
    high: estimate.inputTokens.high + estimate.outputTokens.high,
  };
  const seconds = (value: number) => duration(value * 1_000);
  const cost = (value: number) => money(value, actual.currency ?? estimate?.currency);
  const rows = [
    { name: "Calls", thought: estimate?.calls, took: actual.calls, show: count },
    { name: "Tokens", thought: both, took: tokens, show: count, guess: roughly },
    {
      name: "Model time",
      thought: estimate?.seconds,
      took: actual.modelSeconds,
      show: seconds,
    },
    { name: "Cost", thought: estimate?.cost, took: actual.cost, show: cost },
  ].filter((row) => row.thought !== undefined || row.took !== undefined);
  return (
    <>
      <table className="comparison number">
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">What</span>
            </th>
            <th scope="col">Estimate</th>
            <th scope="col">{view.status === "concluded" ? "Actual" : "So far"}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              <td>{row.thought ? range(row.thought, row.guess ?? row.show) : "unknown"}</td>
              <td>{row.took === undefined ? "unknown" : row.show(row.took)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {view.budget && <p className="muted small">Budget: {budgetInWords(view.budget)}</p>}
      {estimate && estimate.notes.length > 0 && (
        <details className="thinking">
          <summary>What the estimate leaves out</summary>
          <ul className="muted small notes">
            {estimate.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
