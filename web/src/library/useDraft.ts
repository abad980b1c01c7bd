import { useCallback } from "react";
import { useStored } from "../stored";
import { BLANK, type AgentDraft } from "./agentDraft";

export function placeOf(name: string): string {
  return `agent-draft.${name}`;
}

/** What is being filled in, kept in this browser until it is saved. */
export function useDraft(place: string, begun: AgentDraft) {
  const [kept, setKept] = useStored<AgentDraft | null>(place, null, BLANK);
  const draft = kept ?? begun;
  return {
    draft,
    isKept: kept !== null,
    change: (to: Partial<AgentDraft>) => setKept({ ...draft, ...to }),
    forget: useCallback(() => setKept(undefined), [setKept]),
  };
}
