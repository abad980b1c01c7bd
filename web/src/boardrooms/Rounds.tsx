// The questions before the one that is on screen, each with what came of it.

import { memo, useState } from "react";
import { Markdown } from "../markdown/Markdown";
import { Glyph, inRole } from "../ui/icons";
import { Cut } from "../ui/Spent";
import {
  failureInWords,
  saidIn,
  sitter,
  verdictOf,
  type Advisor,
  type Board,
  type Contribution,
  type Round,
} from "./board";
import { headline, sectionOf } from "./sections";
import { VerdictSections } from "./Verdict";

export const Rounds = memo(function Rounds({ board }: { board: Board }) {
  const earlier = board.rounds.slice(0, -1).toReversed();
  if (earlier.length === 0) return null;
  return (
    <section className="rounds" aria-label="Earlier questions">
      {earlier.map((round) => (
        <Earlier key={round.number} board={board} round={round} />
      ))}
    </section>
  );
});

function Earlier({ board, round }: { board: Board; round: Round }) {
  const [isOpen, setOpen] = useState(false);
  const verdict = verdictOf(board, round.number);
  const consensus = verdict && sectionOf(verdict.text, "Consensus");
  const head = consensus && headline(consensus, false).head;
  return (
    <details className="round" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="muted number">{round.number}</span> <strong>{round.prompt}</strong>{" "}
        {!isOpen && <span className="muted">{head ?? (verdict ? "" : "No verdict")}</span>}
      </summary>
      {/* What nobody looks at is not worked out. */}
      {isOpen && (
        <div className="round-inside">
          {verdict && (
            <section aria-label={`Verdict on question ${round.number}`}>
              <h2>Verdict</h2>
              <VerdictSections text={verdict.text} isLive={false} round={round.number} />
            </section>
          )}
          {board.advisors.map((advisor) => {
            const said = saidIn(round.number, advisor);
            return said && <Answer key={advisor.id} advisor={advisor} said={said} />;
          })}
        </div>
      )}
    </details>
  );
}

function Answer({ advisor, said }: { advisor: Advisor; said: Contribution }) {
  return (
    <section {...inRole(advisor.role, advisor.ownRole)} aria-label={`${advisor.name}, then`}>
      <h2>
        <Glyph role={advisor.role} own={advisor.ownRole} small /> {advisor.name}{" "}
        <span className="mono muted">{sitter(said)}</span>
      </h2>
      <SaidThen said={said} />
    </section>
  );
}

/** What somebody said that is no longer the last word of theirs. */
export function SaidThen({ said }: { said: Contribution }) {
  return (
    <>
      {said.text !== "" && <Markdown text={said.text} under={2} />}
      <Cut of={said} />
      {said.status === "failed" && said.error && (
        <p className="aside-note">{failureInWords(said.error)}</p>
      )}
      {said.status === "stopped" && <p className="aside-note">Stopped here.</p>}
    </>
  );
}
