import { forgetSent } from "../api/write";
import { useStored } from "../stored";
import { MarkdownLine } from "../markdown/Markdown";
import { Button } from "../ui/Button";
import { Wrong } from "../ui/Notice";
import type { Advisor, Board, Point, Synthesis, VoteName } from "./board";
import { useCommand } from "./commands";
import { Deadline } from "./PersonSeat";

type Marks = Record<string, { vote?: VoteName; reason?: string }>;

const NONE: Marks = {};
const CHOICES: readonly { vote: VoteName; word: string; sign: string }[] = [
  { vote: "accept", word: "Accept", sign: "✓" },
  { vote: "reject", word: "Reject", sign: "✕" },
  { vote: "defer", word: "Defer", sign: "–" },
];

/** The ballots of persons whose votes are awaited. */
export function BallotPaper({ board, synthesis }: { board: Board; synthesis: Synthesis }) {
  if (!board.allowed.includes("ballot")) return null;
  const awaited = board.advisors.filter(
    (advisor) =>
      advisor.person !== undefined &&
      synthesis.ballots?.some((one) => one.advisor === advisor.id && one.status === "waiting"),
  );
  return awaited.map((advisor) => (
    <Paper key={advisor.id} board={board} synthesis={synthesis} advisor={advisor} />
  ));
}

interface Props {
  board: Board;
  synthesis: Synthesis;
  advisor: Advisor;
}

function Paper({ board, synthesis, advisor }: Props) {
  const name = `ballot.${board.id}.${synthesis.number}.${advisor.id}`;
  const [marks, setMarks] = useStored<Marks>(name, NONE);
  const points = synthesis.points ?? [];
  const command = useCommand(board.id, name, (sent) =>
    forgetSent<Marks>(
      name,
      (kept) =>
        sent.do === "ballot" &&
        JSON.stringify(votesOf(points, kept)) === JSON.stringify(sent.votes),
    ),
  );
  const until = synthesis.ballots?.find((one) => one.advisor === advisor.id)?.voteBy;
  const votes = votesOf(points, marks);
  const mark = (point: number, change: Marks[string]) =>
    setMarks({ ...marks, [point]: { ...marks[point], ...change } });
  return (
    <form
      className="ballot"
      aria-label={`${advisor.person ?? advisor.name}’s ballot`}
      onSubmit={(event) => {
        event.preventDefault();
        command.mutate({ do: "ballot", advisor: advisor.id, votes });
      }}
    >
      <h3>{advisor.person} votes</h3>
      {until !== undefined && <Deadline at={until} />}
      <ol>
        {points.map((point) => (
          <li key={point.number}>
            <p>
              <MarkdownLine text={point.text} />
            </p>
            <div className="row" role="group" aria-label={`Vote on point ${point.number}`}>
              {CHOICES.map((choice) => (
                <Button
                  key={choice.vote}
                  aria-pressed={marks[point.number]?.vote === choice.vote}
                  onClick={() => mark(point.number, { vote: choice.vote })}
                >
                  <span aria-hidden="true">{choice.sign}</span> {choice.word}
                </Button>
              ))}
            </div>
            <input
              className="input"
              aria-label={`Reason for the vote on point ${point.number}`}
              placeholder="Why, in a sentence"
              value={marks[point.number]?.reason ?? ""}
              onChange={(event) => mark(point.number, { reason: event.target.value })}
            />
          </li>
        ))}
      </ol>
      <Wrong error={command.error} />
      <Button
        type="submit"
        look="primary"
        disabled={command.isPending || votes.length < points.length}
      >
        {votes.length < points.length
          ? `${votes.length} of ${points.length} voted on`
          : "Submit votes"}
      </Button>
    </form>
  );
}

function votesOf(points: readonly Point[], marks: Marks) {
  return points.flatMap(({ number: point }) => {
    const mark = marks[point];
    return mark?.vote ? [{ point, vote: mark.vote, reason: mark.reason?.trim() ?? "" }] : [];
  });
}
