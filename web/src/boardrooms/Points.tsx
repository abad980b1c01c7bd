import { MarkdownLine } from "../markdown/Markdown";
import type { Advisor, Board, Synthesis } from "./board";
import { Initials } from "./Initials";
import { behind } from "./points";

interface Props {
  board: Board;
  synthesis: Synthesis;
  items: readonly string[];
  /** The one whose sources are marked. */
  chosen: string | undefined;
  onChoose: (item: string | undefined) => void;
}

/** Points with the initials of who stands behind them; one that is chosen marks its sources. */
export function Points({ board, synthesis, items, chosen, onChoose }: Props) {
  return (
    <ul className="points">
      {items.map((item) => {
        const { advisors, against, how } = behind(item, synthesis.points ?? [], board.advisors);
        const isChosen = chosen === item;
        return (
          <li key={item} className={isChosen ? "chosen" : undefined}>
            <MarkdownLine text={item} />{" "}
            <span className="point-foot">
              <Camp advisors={advisors} board={board} word={how === "vote" ? "for" : "names"} />
              {against.length > 0 && (
                <>
                  <span className="muted small">vs</span>
                  <Camp advisors={against} board={board} word="against" />
                </>
              )}
              <button
                type="button"
                className="point-sources no-print"
                aria-pressed={isChosen}
                onClick={() => onChoose(isChosen ? undefined : item)}
              >
                Sources
              </button>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

interface CampProps {
  advisors: readonly Advisor[];
  board: Board;
  word: string;
}

function Camp({ advisors, board, word }: CampProps) {
  if (advisors.length === 0) return null;
  return (
    <span className="camp">
      <span className="unseen">{word}: </span>
      {advisors.map((advisor) => (
        <Initials key={advisor.id} advisor={advisor} among={board.advisors} />
      ))}
    </span>
  );
}
