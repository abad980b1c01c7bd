// A file that is being written, kept in this browser until it is stored.

/** Where a new workflow is kept. */
export const NEW_DRAFT = "workflow-draft.";

export function draftPlace(name: string | undefined): string {
  return `${NEW_DRAFT}${name ?? ""}`;
}

export const STARTER = `# What a run is called, what it is given, and its steps.
name: my-workflow
description: Let a board advise, and a person decide.
title: "{{ inputs.question }}"
inputs:
  question: { type: string, description: The question to decide }

steps:
  panel:
    label: Three advisors weigh it
    boardroom:
      board: classic-triad
      prompt: "{{ inputs.question }}"

  sign:
    label: A person decides
    approve:
      who: [me]
      not_starter: false
      show: "{{ steps.panel.verdict }}"
      deadline: 3d

outputs:
  verdict: "{{ steps.panel.verdict }}"
`;

/** The step that a line belongs to: the last that begins at it or before. */
export function stepAt<S extends { place: string; line: number }>(
  steps: readonly S[],
  line: number,
): S | undefined {
  return steps.reduce<S | undefined>(
    (found, step) =>
      step.line <= line && (found === undefined || step.line >= found.line) ? step : found,
    undefined,
  );
}

/** The place in a text of a line and column, both from 1. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + Math.min(column - 1, lines[line - 1]?.length ?? 0);
}

/** The text with another word in place of the one that is wrong; nothing where none is found. */
export function replaced(
  text: string,
  at: { line: number; column: number; message: string },
  by: string,
): string | undefined {
  const wrong = /[`“"]([^`”"]+)[`”"]/.exec(at.message)?.[1];
  if (wrong === undefined) return undefined;
  const [start, end] = [offsetOf(text, at.line, 1), offsetOf(text, at.line, Infinity)];
  const line = text.slice(start, end);
  // The last part of a path is the name: `steps.bord` is said, and `bord` is wrong.
  const word = wrong.split(".").at(-1) ?? wrong;
  const from = Math.max(0, at.column - 1);
  const place = line.indexOf(word, from) >= 0 ? line.indexOf(word, from) : line.indexOf(word);
  if (place < 0) return undefined;
  return text.slice(0, start + place) + by + text.slice(start + place + word.length);
}
