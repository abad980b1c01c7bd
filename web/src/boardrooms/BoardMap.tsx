import { memo, useState, type ReactNode } from "react";
import type { Texts } from "../live/texts";
import { Tabs } from "../ui/Tabs";
import { Agreement } from "./Agreement";
import type { Board, Synthesis } from "./board";
import { Timeline } from "./Timeline";
import { hasBallot } from "./tally";
import { Votes } from "./Votes";

type View = "votes" | "agreement" | "timeline";

const VIEWS = [
  { name: "votes", title: "Votes" },
  { name: "agreement", title: "Agreement" },
  { name: "timeline", title: "Timeline" },
] as const;

interface Props {
  board: Board;
  /** The verdict that is shown; its votes are. */
  synthesis: Synthesis | undefined;
  texts: Texts;
  /** Points that belong to what was chosen in the verdict. */
  marked: ReadonlySet<number> | undefined;
  /** All of it, one beneath the other, where there is room. */
  isStacked: boolean;
  onFocus: (advisor: number) => void;
}

/** Who agrees with whom on what, and who wrote when. */
export const BoardMap = memo(function BoardMap(props: Props) {
  const { board, synthesis, texts, onFocus } = props;
  const voted = hasBallot(synthesis) ? synthesis : board.syntheses.findLast(hasBallot);
  const [chosen, setChosen] = useState<View>();
  const view = chosen ?? (voted ? "votes" : "timeline");
  const parts: Record<View, ReactNode> = {
    votes: voted ? (
      <Votes board={board} synthesis={voted} marked={props.marked} />
    ) : (
      <p className="muted map-note">{whyNoVotes(board, synthesis)}</p>
    ),
    agreement: voted && <Agreement board={board} synthesis={voted} />,
    timeline: <Timeline board={board} texts={texts} onFocus={onFocus} />,
  };
  return (
    <section className="card map" aria-label="Map">
      <h2 className="unseen">Map</h2>
      {props.isStacked ? (
        VIEWS.map(
          ({ name, title }) =>
            parts[name] && (
              // The answers stand beneath all of it: what is looked at least is folded.
              <details key={name} className="map-part" open={name !== "timeline" || !voted}>
                <summary>{title}</summary>
                {parts[name]}
              </details>
            ),
        )
      ) : (
        <Tabs label="Map" tabs={VIEWS} chosen={view} onChoose={setChosen}>
          {parts[view] ?? parts.votes}
        </Tabs>
      )}
    </section>
  );
});

function whyNoVotes(board: Board, synthesis: Synthesis | undefined): string {
  if (board.allowed.includes("openBallot")) {
    return "No votes yet. “Hold a vote”, under the verdict, asks the advisors for theirs.";
  }
  if (!board.ballot) {
    return "This board held no vote. To hold one, turn on “Advisors vote on the verdict” under “Edit board” before you convene.";
  }
  if (synthesis?.noBallot !== undefined) return `There are no votes. ${synthesis.noBallot}`;
  return board.status === "answering" || board.status === "synthesizing"
    ? "The advisors vote on the verdict as soon as it is written."
    : "There are no votes: the board ended before the vote.";
}
