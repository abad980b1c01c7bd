// Who I am in a council. The first post under a name claims it; the token that comes back is
// kept here and proves later that the name is mine.

import { useCallback } from "react";
import { remember, remembered, useStored } from "../stored";

const NO_TOKENS: Record<string, string> = {};
/** Shared with whiteboards and discussions; councils take it without spaces. */
const LAST_NAME = "my-name";

export function useSender(sessionId: string) {
  const [lastName, setLastName] = useStored<string>(LAST_NAME, "");
  const [nameHere, setNameHere] = useStored<string | null>(`council-name.${sessionId}`, null, "");
  const tokensKey = `council-tokens.${sessionId}`;
  const [tokens] = useStored<Record<string, string>>(tokensKey, NO_TOKENS);
  const claimed = useCallback(
    (name: string, token: string) => {
      const all = remembered<Record<string, string>>(tokensKey, NO_TOKENS);
      remember(tokensKey, { ...all, [name]: token });
      setNameHere(name);
      setLastName(name);
    },
    [tokensKey, setNameHere, setLastName],
  );
  const usual = lastName.trim().replace(/\s+/g, "-");
  return { name: nameHere ?? usual, setName: setNameHere, tokens, claimed };
}

/** What this browser knows of a council that is gone. */
export function forget(sessionId: string): void {
  for (const what of ["name", "tokens", "draft", "edit"])
    remember(`council-${what}.${sessionId}`, undefined);
}
