import { useState } from "react";
import { MarkdownLine } from "../markdown/Markdown";
import { Matrix, NoVote, VOTES, VoteSign } from "../session/Matrix";
import { some } from "../ui/time";
import { inRole } from "../ui/icons";
import type { Advisor, BallotOf, Board, CastVote, Point, Synthesis } from "./board";
import { Initials } from "./Initials";
import { contestedFirst, voters } from "./tally";

interface VotesProps {
  board: Board;
  synthesis: Synthesis;
  /** Points that belong to what was chosen in the verdict. */
  marked?: ReadonlySet<number> | undefined;
}

export function Votes({ board, synthesis, marked }: VotesProps) {
  const asked = voters(synthesis);
  const advisors = board.advisors.filter((advisor) => asked.includes(advisor.id));
  const points = contestedFirst(synthesis.points ?? []);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const toggle = (number: number) => {
    const next = new Set(open);
    if (!next.delete(number)) next.add(number);
    setOpen(next);
  };
  return (
    <>
      <Matrix
        label="Votes by point and advisor, contested points first"
        corner="Point"
        columns={advisors.map((advisor) => ({
          key: advisor.id,
          head: <Initials advisor={advisor} among={board.advisors} />,
        }))}
        rows={points.map((point) => ({
          key: point.number,
          isMarked: marked?.has(point.number) ?? false,
          head: (
            <span className={open.has(point.number) ? undefined : "point"} title={point.text}>
              <MarkdownLine text={point.text} />
            </span>
          ),
          tail: (
            <button
              type="button"
              className="tally number"
              aria-expanded={open.has(point.number)}
              aria-label={`Reasons for point ${point.number}: ${point.accept}/${advisors.length} accept`}
              onClick={() => toggle(point.number)}
            >
              {point.accept}/{advisors.length}
            </button>
          ),
          cells: advisors.map((advisor) => (
            <Mark
              key={advisor.id}
              advisor={advisor}
              vote={point.votes.find((one) => one.advisor === advisor.id)}
              ballot={synthesis.ballots?.find((one) => one.advisor === advisor.id)}
            />
          )),
          beneath: open.has(point.number) && <Reasons point={point} advisors={advisors} />,
        }))}
      />
      <p className="muted map-note">{whereFrom(synthesis, advisors)}</p>
    </>
  );
}

interface MarkProps {
  advisor: Advisor;
  vote: CastVote | undefined;
  ballot: BallotOf | undefined;
}

function Mark({ advisor, vote, ballot }: MarkProps) {
  if (!vote) {
    const isAwaited = ballot?.status === "waiting";
    const word = isAwaited ? "not yet" : "no vote";
    const words = `${advisor.name}: ${word}`;
    return (
      <NoVote
        word={word}
        sign={isAwaited ? "…" : ""}
        title={ballot?.problem ? `${words} (${ballot.problem})` : words}
      />
    );
  }
  const words = `${advisor.name} ${VOTES[vote.vote]}`;
  return <VoteSign vote={vote.vote} title={vote.reason ? `${words}: ${vote.reason}` : words} />;
}

function Reasons({ point, advisors }: { point: Point; advisors: readonly Advisor[] }) {
  return (
    <dl className="reasons">
      {point.votes.map((vote) => {
        const advisor = advisors.find((one) => one.id === vote.advisor);
        return (
          advisor && (
            <div key={vote.advisor} {...inRole(advisor.role, advisor.ownRole)}>
              <dt>
                {advisor.name} {VOTES[vote.vote]}
              </dt>
              <dd>{vote.reason || "No reason given."}</dd>
            </div>
          )
        );
      })}
    </dl>
  );
}

function whereFrom(synthesis: Synthesis, advisors: readonly Advisor[]): string {
  const { ballots = [], number, pointsLeftOut = 0 } = synthesis;
  const named = (status: BallotOf["status"], why: (ballot: BallotOf) => string) =>
    ballots
      .filter((ballot) => ballot.status === status)
      .map((ballot) => {
        const name = advisors.find((one) => one.id === ballot.advisor)?.name ?? "";
        return `${name}${why(ballot)}`;
      });
  const awaited = named("waiting", () => "");
  const missing = [
    ...named("failed", (ballot) => ` (${ballot.problem ?? "failed"})`),
    ...named("stopped", () => " (stopped)"),
  ];
  return [
    `Advisors’ votes on the points of verdict v${number}.`,
    ...(awaited.length > 0 ? [`Still to come: ${awaited.join(", ")}.`] : []),
    ...(missing.length > 0 ? [`No votes from ${missing.join(", ")}.`] : []),
    ...(pointsLeftOut > 0 ? [`Not voted on: ${some(pointsLeftOut, "further point")}.`] : []),
  ].join(" ");
}
