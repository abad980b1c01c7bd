import { MarkdownLine } from "../markdown/Markdown";
import { Agreement as Pairs, SIGNS } from "../session/Matrix";
import type { Advisor, Board, Point, Synthesis } from "./board";
import { Initials } from "./Initials";
import { differences, pairOf, voteOf, voters } from "./tally";

/** How often two advisors voted the same, in percent. */
export function Agreement({ board, synthesis }: { board: Board; synthesis: Synthesis }) {
  const asked = voters(synthesis);
  const advisors = board.advisors.filter((advisor) => asked.includes(advisor.id));
  const sign = (point: Point, advisor: Pick<Advisor, "id">) => {
    const vote = voteOf(point, advisor.id);
    return vote && `${SIGNS[vote]} ${vote}`;
  };
  return (
    <>
      <Pairs
        label="Points on which two advisors voted the same way, in percent"
        noun="point"
        voters={advisors.map((advisor) => ({
          key: advisor.id,
          id: advisor.id,
          name: advisor.name,
          head: <Initials advisor={advisor} among={board.advisors} />,
        }))}
        pairOf={(one, other) => pairOf(synthesis.agreement ?? [], one.id, other.id)}
        differences={(one, other) =>
          differences(synthesis.points ?? [], one.id, other.id).map((point) => ({
            key: point.number,
            shown: (
              <>
                <MarkdownLine text={point.text} />
                <span className="muted small block-line">
                  {one.name} {sign(point, one)} · {other.name} {sign(point, other)}
                </span>
              </>
            ),
          }))
        }
      />
      <p className="muted map-note">
        Percentage of points in verdict v{synthesis.number} on which both voted the same way. Select
        a number to see where they differ.
      </p>
    </>
  );
}
