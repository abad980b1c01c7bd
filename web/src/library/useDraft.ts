import { useCallback } from "react";
import { useStored } from "../stored";
import type { AgentDraft } from "./agentDraft";

/** What is being filled in, kept in this browser until it is saved. */
export function useDraft(name: string, begun: AgentDraft) {
  const [kept, setKept] = useStored<AgentDraft | null>(`agent-draft.${name}`, null);
  const draft = kept ?? begun;
  return {
    draft,
    isKept: kept !== null,
    change: (to: Partial<AgentDraft>) => setKept({ ...draft, ...to }),
    forget: useCallback(() => setKept(undefined), [setKept]),
  };
}
