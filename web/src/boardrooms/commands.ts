// What can be done to a board. Every command answers with the board as it stands then, which
// goes straight to the screen.

import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { asked, client, writeKey, type Schemas } from "../api/client";
import { useOnce, type WriteKey } from "../api/once";
import { boardKey, type Board, type VoteName } from "./board";

export type Command =
  | { do: "stop" }
  | { do: "resume" }
  | ({ do: "synthesize" } & Schemas["NewSynthesis"])
  | ({ do: "resynthesize" } & Schemas["NewSynthesis"])
  | { do: "retry"; advisor: number; model?: string }
  | { do: "stopAdvisor"; advisor: number }
  | { do: "reply"; advisor: number; text: string }
  | { do: "ballot"; advisor: number; votes: { point: number; vote: VoteName; reason: string }[] };

/** Those that the board refuses by itself when they are sent again. */
const REPEATABLE: readonly Command["do"][] = ["stop", "resume", "retry", "stopAdvisor"];

function send(id: string, command: Command, key: WriteKey): Promise<Board> {
  // The same one may well be meant anew later, when the board has run on.
  const header = REPEATABLE.includes(command.do) ? writeKey() : key;
  const params = { path: { id }, header };
  switch (command.do) {
    case "stop":
    case "resume":
      return asked(client.POST(`/api/boardrooms/{id}/${command.do}`, { params }));
    case "synthesize":
    case "resynthesize": {
      const body = { model: command.model, instruction: command.instruction };
      return asked(client.POST(`/api/boardrooms/{id}/${command.do}`, { params, body }));
    }
    case "retry":
    case "stopAdvisor": {
      const params = { path: { id, advisor: command.advisor }, header };
      if (command.do === "stopAdvisor")
        return asked(client.POST("/api/boardrooms/{id}/advisors/{advisor}/stop", { params }));
      const body = { model: command.model };
      return asked(client.POST("/api/boardrooms/{id}/advisors/{advisor}/retry", { params, body }));
    }
    case "reply": {
      const body = { advisor: command.advisor, text: command.text };
      return asked(client.POST("/api/boardrooms/{id}/reply", { params, body }));
    }
    case "ballot": {
      const body = { advisor: command.advisor, votes: command.votes };
      return asked(client.POST("/api/boardrooms/{id}/ballot", { params, body }));
    }
  }
}

/** `onSent` comes also when the page was left meanwhile. */
export function useCommand(id: string, onSent?: (command: Command) => void) {
  const queries = useQueryClient();
  return useOnce((command: Command, key) => send(id, command, key), {
    onSent: (board, command) => {
      show(queries, board);
      onSent?.(command);
    },
    // A refusal often means that the board has moved on: show where it stands.
    onError: () => void queries.invalidateQueries({ queryKey: boardKey(id) }),
  });
}

/** An answer that was overtaken does not take a board back to what it was. */
export function show(queries: QueryClient, board: Board): void {
  queries.setQueryData<Board>(boardKey(board.id), (shown) =>
    shown && shown.version > board.version ? shown : board,
  );
}

export function useRemove(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => asked(client.DELETE("/api/boardrooms/{id}", { params: { path: { id } } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

export type NewBoardroom = Schemas["NewBoardroom"] & { ballot?: boolean };

/** `onSent` comes also when the page was left meanwhile. */
export function useConvene(onSent: (convened: NewBoardroom) => void) {
  const queries = useQueryClient();
  return useOnce(
    (body: NewBoardroom, header): Promise<Board> =>
      asked(client.POST("/api/boardrooms", { params: { header }, body })),
    {
      onSent: (board, convened) => {
        onSent(convened);
        show(queries, board);
        void queries.invalidateQueries({ queryKey: ["sessions"] });
      },
    },
  );
}
