// What the votes say. Everything here comes from votes that were cast, and from nothing else.

import type { Pair, Point, Synthesis, VoteName } from "./board";

/** How far from unanimous a point is. */
export function contest(point: Point): number {
  return point.votes.length - Math.max(point.accept, point.reject, point.defer);
}

/** The most contested first; among equals those with more rejections, then as they stand. */
export function contestedFirst(points: readonly Point[]): Point[] {
  return [...points].sort(
    (a, b) => contest(b) - contest(a) || b.reject - a.reject || a.number - b.number,
  );
}

export function voteOf(point: Point, advisor: number): VoteName | undefined {
  return point.votes.find((vote) => vote.advisor === advisor)?.vote;
}

export function pairOf(pairs: readonly Pair[], one: number, other: number): Pair | undefined {
  return pairs.find(({ a, b }) => (a === one && b === other) || (a === other && b === one));
}

/** Points on which both voted, and not the same. */
export function differences(points: readonly Point[], one: number, other: number): Point[] {
  return points.filter((point) => {
    const [left, right] = [voteOf(point, one), voteOf(point, other)];
    return left !== undefined && right !== undefined && left !== right;
  });
}

/** The advisors that were asked to vote on it. */
export function voters(synthesis: Synthesis): number[] {
  const asked = synthesis.ballots?.map((ballot) => ballot.advisor);
  return asked && asked.length > 0 ? asked : synthesis.basis;
}

export function hasBallot(synthesis: Synthesis | undefined): synthesis is Synthesis {
  return (synthesis?.points?.length ?? 0) > 0;
}
