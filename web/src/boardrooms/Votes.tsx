import { Fragment, useState } from "react";
import { MarkdownLine } from "../markdown/Markdown";
import { IconButton } from "../ui/Button";
import { Glyph } from "../ui/icons";
import { some } from "../ui/time";
import type { Advisor, BallotOf, Board, CastVote, Point, Synthesis, VoteName } from "./board";
import { contestedFirst, voters } from "./tally";

export const SIGNS: Record<VoteName, string> = { accept: "✓", reject: "✕", defer: "–" };
const WORDS: Record<VoteName, string> = {
  accept: "accepts",
  reject: "rejects",
  defer: "defers",
};

export function Votes({ board, synthesis }: { board: Board; synthesis: Synthesis }) {
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
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Votes by point">
        <table className="heat">
          <caption className="unseen">Votes by point and advisor, contested points first</caption>
          <thead>
            <tr>
              <th scope="col">Point</th>
              {advisors.map((advisor) => (
                <th key={advisor.id} scope="col" className="cell">
                  <Glyph role={advisor.role} small label={advisor.name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <Fragment key={point.number}>
                <tr>
                  <th scope="row">
                    <span className="point">
                      <MarkdownLine text={point.text} />
                    </span>
                    <span className="tally">
                      {point.accept} of {advisors.length} accept
                      <IconButton
                        className="no-print"
                        icon={open.has(point.number) ? "up" : "down"}
                        label={`Reasons for point ${point.number}`}
                        aria-expanded={open.has(point.number)}
                        onClick={() => toggle(point.number)}
                      />
                    </span>
                  </th>
                  {advisors.map((advisor) => (
                    <td key={advisor.id} className="cell">
                      <Mark
                        advisor={advisor}
                        vote={point.votes.find((one) => one.advisor === advisor.id)}
                        ballot={synthesis.ballots?.find((one) => one.advisor === advisor.id)}
                      />
                    </td>
                  ))}
                </tr>
                {open.has(point.number) && (
                  <tr>
                    <td colSpan={advisors.length + 1}>
                      <Reasons point={point} advisors={advisors} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
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
    const words = `${advisor.name}: ${isAwaited ? "not yet" : "no vote"}`;
    return (
      <span className="vote none" title={ballot?.problem ? `${words} (${ballot.problem})` : words}>
        <span aria-hidden="true">{isAwaited ? "…" : ""}</span>
        <span className="unseen">{isAwaited ? "not yet" : "no vote"}</span>
      </span>
    );
  }
  const words = `${advisor.name} ${WORDS[vote.vote]}`;
  return (
    <span className={`vote ${vote.vote}`} title={vote.reason ? `${words}: ${vote.reason}` : words}>
      <span aria-hidden="true">{SIGNS[vote.vote]}</span>
      <span className="unseen">{vote.vote}</span>
    </span>
  );
}

function Reasons({ point, advisors }: { point: Point; advisors: readonly Advisor[] }) {
  return (
    <dl className="reasons">
      {point.votes.map((vote) => {
        const advisor = advisors.find((one) => one.id === vote.advisor);
        return (
          advisor && (
            <div key={vote.advisor} data-role={advisor.role}>
              <dt>
                {advisor.name} {WORDS[vote.vote]}
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
    `Votes of the advisors on the points of verdict v${number}.`,
    ...(awaited.length > 0 ? [`Still to come: ${awaited.join(", ")}.`] : []),
    ...(missing.length > 0 ? [`Without ${missing.join(", ")}.`] : []),
    ...(pointsLeftOut > 0 ? [`Not voted on: ${some(pointsLeftOut, "further point")}.`] : []),
  ].join(" ");
}
