// A board as the server shows it, and its parts in words.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Advisor = Schemas["AdvisorView"];
export type Absent = Schemas["AbsentView"];
export type Presets = Schemas["Presets"];
export type RoleName = Schemas["RoleName"];
export type Failure = Schemas["FailureView"];

export type VoteName = "accept" | "reject" | "defer";

export interface CastVote {
  advisor: number;
  vote: VoteName;
  reason?: string;
}

/** A numbered point of a synthesis, with the votes on it. */
export interface Point {
  number: number;
  section: string;
  text: string;
  votes: CastVote[];
  accept: number;
  reject: number;
  defer: number;
}

/** How it stands with one advisor's ballot. */
export interface BallotOf {
  advisor: number;
  status: "waiting" | "done" | "failed" | "stopped";
  problem?: string;
  /** Until when a person can vote. */
  voteBy?: string;
}

/** On how many points two advisors voted the same, of those on which both voted. */
export interface Pair {
  a: number;
  b: number;
  same: number;
  of: number;
}

export type Synthesis = Schemas["SynthesisView"] & {
  points?: Point[];
  ballots?: BallotOf[];
  agreement?: Pair[];
  /** Points beyond the most that are voted on. */
  pointsLeftOut?: number;
  /** Why there was no ballot although the board has it on. */
  noBallot?: string;
};

export type Board = Omit<Schemas["BoardroomView"], "syntheses" | "status"> & {
  status: Schemas["BoardStatus"] | "balloting";
  syntheses: Synthesis[];
  ballot?: boolean;
};

export function boardKey(id: string): [string, string] {
  return ["boardrooms", id];
}

export function useBoard(id: string) {
  return useQuery({
    queryKey: boardKey(id),
    queryFn: async (): Promise<Board> =>
      asked(client.GET("/api/boardrooms/{id}", { params: { path: { id } } })),
  });
}

const NEVER_STALE = { staleTime: Infinity };

export function usePresets() {
  return useQuery({
    queryKey: ["presets", "boardrooms"],
    queryFn: () => asked(client.GET("/api/boardrooms/presets")),
    ...NEVER_STALE,
  });
}

export function useModels() {
  return useQuery({
    queryKey: ["models"],
    queryFn: () => asked(client.GET("/api/models")),
    staleTime: 15_000,
  });
}

/** Something runs, or somebody is awaited. */
export function isRunning(board: Board): boolean {
  return ["answering", "synthesizing", "balloting"].includes(board.status);
}

export function isPending(advisor: Advisor): boolean {
  return advisor.status === "answering" || advisor.status === "waiting";
}

export function finished(board: Board): Advisor[] {
  return board.advisors.filter((advisor) => advisor.status === "done");
}

/** `qwen3:32b` of `ollama/qwen3:32b`. */
export function shortModel(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** Who sits there: a model's short name, or a person's. */
export function sitter(advisor: Advisor): string {
  return advisor.person ?? shortModel(advisor.model ?? "");
}

/** The name of the preset whose roles these are. */
export function presetName(roles: readonly RoleName[], presets?: Presets): string | undefined {
  const same = (board: { roles: readonly RoleName[] }) =>
    board.roles.length === roles.length && board.roles.every((role, at) => role === roles[at]);
  return presets?.boards.find(same)?.name;
}

const FAILURES: Record<Failure["kind"], string> = {
  timedOut: "It took too long and was given up.",
  idle: "It stopped writing in the middle.",
  refused: "The model's server refused the request.",
  rateLimited: "The model's server takes no more requests for now.",
  tooLong: "The answer grew too long and was cut off.",
  empty: "The model answered with nothing.",
  misconfigured: "This model is not set up properly.",
  unreachable: "The connection to the model's server failed.",
  malformed: "The model's server sent something that cannot be read.",
};

export function failureInWords(failure: Failure): string {
  return FAILURES[failure.kind];
}

export function latestSynthesis(board: Board): Synthesis | undefined {
  return board.syntheses.at(-1);
}

/** The newest synthesis that is whole. */
export function verdictOf(board: Board): Synthesis | undefined {
  return board.syntheses.findLast((synthesis) => synthesis.status === "done");
}
