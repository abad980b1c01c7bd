import { useState, type CSSProperties } from "react";
import { MarkdownLine } from "../markdown/Markdown";
import { Glyph } from "../ui/icons";
import { some } from "../ui/time";
import type { Advisor, Board, Synthesis } from "./board";
import { SIGNS } from "./Votes";
import { differences, pairOf, voteOf, voters } from "./tally";

/** How often two advisors voted the same, in percent. */
export function Agreement({ board, synthesis }: { board: Board; synthesis: Synthesis }) {
  const asked = voters(synthesis);
  const advisors = board.advisors.filter((advisor) => asked.includes(advisor.id));
  const pairs = synthesis.agreement ?? [];
  const [chosen, setChosen] = useState<readonly [number, number]>();
  const cell = (row: Advisor, column: Advisor) => {
    if (row.id === column.id) return <span className="same" aria-hidden="true" />;
    const pair = pairOf(pairs, row.id, column.id);
    if (!pair || pair.of === 0) {
      return (
        <span className="same none" title={`${row.name} and ${column.name}: no votes in common`}>
          <span className="unseen">no votes in common</span>
        </span>
      );
    }
    const percent = Math.round((100 * pair.same) / pair.of);
    const words = `${row.name} and ${column.name}: the same vote on ${pair.same} of ${some(pair.of, "point")}`;
    return (
      <button
        type="button"
        className="same"
        style={{ "--part": pair.same / pair.of } as CSSProperties}
        title={words}
        aria-label={`${percent} percent. ${words}`}
        aria-pressed={isPair(chosen, row.id, column.id)}
        onClick={() => setChosen([row.id, column.id])}
      >
        {percent}
      </button>
    );
  };
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Agreement by pair">
        <table className="heat matrix">
          <caption className="unseen">
            Points on which two advisors voted the same, in percent
          </caption>
          <thead>
            <tr>
              <td />
              {advisors.map((advisor) => (
                <th key={advisor.id} scope="col" className="cell">
                  <Glyph role={advisor.role} small label={advisor.name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {advisors.map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <Glyph role={row.role} small />
                  {row.name}
                </th>
                {advisors.map((column) => (
                  <td key={column.id} className="cell">
                    {cell(row, column)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen && <Differences board={board} synthesis={synthesis} pair={chosen} />}
      <p className="muted map-note">
        The share of points in verdict v{synthesis.number} on which both voted alike, in percent.
        Choose a number to see where they differ.
      </p>
    </>
  );
}

function isPair(pair: readonly [number, number] | undefined, one: number, other: number): boolean {
  return pair !== undefined && pair.includes(one) && pair.includes(other);
}

interface DifferencesProps {
  board: Board;
  synthesis: Synthesis;
  pair: readonly [number, number];
}

function Differences({ board, synthesis, pair }: DifferencesProps) {
  const [left, right] = pair.map((id) => board.advisors.find((advisor) => advisor.id === id));
  if (!left || !right) return null;
  const points = differences(synthesis.points ?? [], left.id, right.id);
  const sign = (point: (typeof points)[number], advisor: Advisor) => {
    const vote = voteOf(point, advisor.id);
    return vote && `${SIGNS[vote]} ${vote}`;
  };
  return (
    <div className="differences" role="status">
      <h3>
        {left.name} and {right.name} {points.length === 0 ? "agree on every point" : "differ on"}
      </h3>
      <ul>
        {points.map((point) => (
          <li key={point.number}>
            <MarkdownLine text={point.text} />
            <span className="muted small block-line">
              {left.name} {sign(point, left)} · {right.name} {sign(point, right)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
