import { describe, expect, it } from "vitest";
import type { Advisor, Board, Synthesis } from "./board";
import { milestones } from "./milestones";

type Status = Advisor["status"];

function advisor(id: number, name: string, status: Status): Advisor {
  return {
    id,
    name,
    status,
    role: "critic",
    initials: "CR",
    colour: "",
    callId: `advisor/${id}`,
    text: "",
    usage: {},
    round: 1,
    try: 1,
    ...(status === "failed" && { error: { kind: "timedOut", message: "after 60 s" } }),
  };
}

function board(status: Board["status"], statuses: Status[], verdict?: Status): Board {
  const synthesis: Synthesis = {
    number: 1,
    model: "a/b",
    round: 1,
    basis: [],
    contributions: [],
    absent: [],
    failedBefore: [],
    callId: "synthesis/1",
    status: verdict ?? "answering",
    text: "",
    usage: {},
    points: [],
    pointsLeftOut: 0,
    ballots: [],
    agreement: [],
  };
  return {
    id: "1",
    version: 1,
    title: "",
    prompt: "",
    status,
    allowed: [],
    context: [],
    advisors: statuses.map((one, at) => advisor(at + 1, ["Advocate", "Critic"][at] ?? "", one)),
    synthesizers: [],
    syntheses: verdict ? [synthesis] : [],
    usage: {},
    convenedAt: "2026-01-01T00:00:00Z",
    ballot: false,
    openAnswers: false,
    rounds: [],
  };
}

describe("milestones", () => {
  const check = (before: Board, now: Board, expected: string[]) =>
    expect(milestones(before, now)).toEqual(expected);

  it("count who has finished", () =>
    check(board("answering", ["done", "answering"]), board("answering", ["done", "done"]), [
      "Critic finished, 2 of 2",
    ]));
  it("count several that finish at once", () =>
    check(board("answering", ["answering", "waiting"]), board("answering", ["done", "done"]), [
      "Advocate finished, 1 of 2",
      "Critic finished, 2 of 2",
    ]));
  it("say why somebody failed", () =>
    check(board("answering", ["answering", "done"]), board("answering", ["failed", "done"]), [
      "Advocate failed. It timed out.",
    ]));
  it("say once that everything was stopped", () =>
    check(
      board("answering", ["answering", "answering"]),
      board("stopped", ["stopped", "stopped"]),
      ["Stopped"],
    ));
  it("say that the verdict is there", () =>
    check(
      board("synthesizing", ["done", "done"], "answering"),
      board("closed", ["done", "done"], "done"),
      ["Verdict ready"],
    ));
  it("say that the votes are in", () =>
    check(board("balloting", ["done"], "done"), board("closed", ["done"], "done"), [
      "The votes are in",
    ]));
  it("are none when only text has grown", () =>
    check(board("answering", ["answering"]), board("answering", ["answering"]), []));
});
