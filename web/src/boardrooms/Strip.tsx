// The strip over the columns: how far the advisors are, what of the budget is gone, and the
// way to a verdict.

import { useMemo } from "react";
import type { LiveSession } from "../live/session";
import { percent } from "../session/Lanes";
import { budgetInWords, budgetShares } from "../ui/Budget";
import { Button } from "../ui/Button";
import { Wrong } from "../ui/Notice";
import { exactTime, some } from "../ui/time";
import { askedNow, finished, verdictOf, type Board } from "./board";
import { useCommand } from "./commands";
import { countsInWords } from "./standing";
import { useStandings } from "./useStandings";

interface Props {
  board: Board;
  live: LiveSession;
  /** Turns to the verdict over the whole width; absent as long as there is none. */
  onWide: (() => void) | undefined;
}

export function Strip({ board, live, onWide }: Props) {
  const command = useCommand(board.id);
  const asked = useMemo(() => askedNow(board), [board]);
  const standings = useStandings(asked, live);
  const done = finished(board).length;
  const all = asked.length;
  const isAnswering = board.status === "answering";
  return (
    <section className="strip no-print" aria-label="Progress">
      <span className="segments" aria-hidden="true">
        {standings.map((standing, place) => (
          <span key={place} data-standing={standing} />
        ))}
      </span>
      <span className="strip-counts number">{countsInWords(standings)}</span>
      <BudgetBar budget={board.budget} />
      <span className="strip-when muted small">{isAnswering ? whenItFollows(board) : ""}</span>
      {isAnswering && board.allowed.includes("synthesize") && (
        <Button
          look="primary"
          icon="flag"
          title={`Uses the ${some(done, "finished answer")}; the others are left out`}
          disabled={command.isPending}
          onClick={() => command.mutate({ do: "synthesize" })}
        >
          Synthesize {done} of {all} now
        </Button>
      )}
      {onWide && (
        <Button icon="flag" look={verdictOf(board) ? "primary" : "plain"} onClick={onWide}>
          Verdict first
        </Button>
      )}
      <Wrong error={command.error} />
    </section>
  );
}

/** The amounts stand in the header. What calls under way may still take is hatched. */
function BudgetBar({ budget }: { budget: Board["budget"] }) {
  const shares = budget && budgetShares(budget);
  if (!shares) return null;
  const { spent, reserved } = shares;
  const whole = (share: number) => Math.round(100 * share);
  const words = `${whole(spent)}% spent${reserved > 0 ? `, ${whole(reserved)}% reserved` : ""}`;
  return (
    <span className="strip-budget" title={budgetInWords(budget)}>
      <span className="muted">Budget</span>
      <span
        className="budget-bar"
        role="meter"
        aria-label="Budget"
        aria-valuenow={Math.min(100, whole(spent))}
        aria-valuetext={words}
      >
        <span style={{ width: percent(Math.min(1, spent)) }} />
        <span className="reserved" style={{ width: percent(reserved) }} />
      </span>
      <span className="number">{words}</span>
    </span>
  );
}

function whenItFollows(board: Board): string {
  const { quorum } = board;
  if (!quorum) return "The verdict follows once all have answered.";
  return quorum.until === undefined
    ? `The verdict follows once ${quorum.need} have answered and the rest had ${quorum.graceSeconds} s more.`
    : `Enough have answered; the rest have until ${exactTime(quorum.until)}.`;
}
