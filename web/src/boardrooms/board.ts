// A board as the server shows it, and its parts in words.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";
import { shortModel } from "../ui/ModelSelect";

export type Advisor = Schemas["AdvisorView"];
export type Absent = Schemas["AbsentView"];
export type Presets = Schemas["Presets"];
export type RoleName = Schemas["RoleName"];
export type Failure = Schemas["FailureView"];

export type VoteName = Schemas["BallotChoice"];
export type CastVote = Schemas["BallotVoteView"];
/** A numbered point of a synthesis, with the votes on it. */
export type Point = Schemas["PointView"];
/** How it stands with one advisor's ballot. */
export type BallotOf = Schemas["PaperView"];
/** On how many points two advisors voted the same, of those on which both voted. */
export type Pair = Schemas["AgreementView"];
export type Synthesis = Schemas["SynthesisView"];
export type Board = Schemas["BoardroomView"];
/** A question that was put to the board. */
export type Round = Schemas["RoundView"];
/** What somebody said in a round. */
export type Contribution = Schemas["ContributionView"];

export function boardKey(id: string): [string, string] {
  return ["boardrooms", id];
}

export function useBoard(id: string) {
  return useQuery({
    queryKey: boardKey(id),
    queryFn: () => read(id),
  });
}

/**
 * Whoever has a board on screen writes the answers of its people there. So that nobody is led,
 * it is read as the first of them sees it who has not answered yet.
 */
async function read(id: string): Promise<Board> {
  const seen = (seat?: number): Promise<Board> =>
    asked(
      client.GET("/api/boardrooms/{id}", {
        params: { path: { id }, query: { ...(seat !== undefined && { seat }) } },
      }),
    );
  const board = await seen();
  return hidesFrom(board) === undefined ? board : seen(hidesFrom(board));
}

/** Boards of which somebody wants to see all before they have answered. */
const shownAnyway = new Set<string>();

export function showAnyway(id: string): void {
  shownAnyway.add(id);
}

/** The seat whose answer is awaited before this page shows those of the others. */
export function hidesFrom(board: Board): number | undefined {
  if (board.openAnswers || shownAnyway.has(board.id)) return undefined;
  return board.advisors.find((advisor) => advisor.status === "waiting")?.id;
}

/** Something runs, or somebody is awaited. */
export function isRunning(board: Board): boolean {
  return ["answering", "synthesizing", "balloting"].includes(board.status);
}

export function isPending(advisor: Advisor): boolean {
  return advisor.status === "answering" || advisor.status === "waiting";
}

/** The round that is, or was, the last. */
export function roundNow(board: Board): number {
  return board.rounds.at(-1)?.number ?? 1;
}

/** The question of the last round. */
export function questionOf(board: Board): string {
  return board.rounds.at(-1)?.prompt ?? board.prompt;
}

/** Those to whom the last question was put. */
export function askedNow(board: Board): Advisor[] {
  return board.advisors.filter((advisor) => advisor.round === roundNow(board));
}

/** Those who have answered it. */
export function finished(board: Board): Advisor[] {
  return askedNow(board).filter((advisor) => advisor.status === "done");
}

/** The last that an advisor said in a round. */
export function saidIn(round: number, advisor: Advisor): Contribution | undefined {
  return [...(advisor.earlier ?? []), advisor].findLast((one) => one.round === round);
}

/** Who sits there: a model's short name, or a person's. */
export function sitter(advisor: Pick<Advisor, "person" | "model">): string {
  return advisor.person ?? shortModel(advisor.model ?? "");
}

/** The name of the preset whose roles these are. */
export function presetName(roles: readonly RoleName[], presets?: Presets): string | undefined {
  const same = (board: { roles: readonly RoleName[] }) =>
    board.roles.length === roles.length && board.roles.every((role, at) => role === roles[at]);
  return presets?.boards.find(same)?.name;
}

const FAILURES: Record<Failure["kind"], string> = {
  timedOut: "It timed out.",
  idle: "It stopped mid-answer.",
  refused: "The provider refused the request.",
  rateLimited: "The provider’s rate limit was reached.",
  outOfCredit: "The provider account is out of credit.",
  outOfBudget: "Out of budget.",
  promptTooLong: "The prompt is too long for this model.",
  tooLong: "The answer was too long and was cut off.",
  empty: "The model returned an empty answer.",
  misconfigured: "This model is not set up correctly.",
  unreachable: "The connection to the provider failed.",
  providerError: "The provider returned an error.",
  malformed: "The answer was not in the expected format.",
  internal: "Plenary hit an internal error.",
};

export function failureInWords(failure: Failure): string {
  return FAILURES[failure.kind];
}

/** The versions of the verdict on a question. */
export function versions(board: Board, round = roundNow(board)): Synthesis[] {
  return board.syntheses.filter((synthesis) => synthesis.round === round);
}

/** The newest of them that is whole. */
export function verdictOf(board: Board, round = roundNow(board)): Synthesis | undefined {
  return versions(board, round).findLast((synthesis) => synthesis.status === "done");
}
