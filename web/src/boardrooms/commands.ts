// What can be done to a board. Every command answers with the board as it stands then, which
// goes straight to the screen.

import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { asked, client, writeKey, type Schemas } from "../api/client";
import { useWrite, type WriteKey } from "../api/write";
import { contextOf, type AttachedFile } from "../ui/files";
import { boardKey, hidesFrom, showAnyway, type Board, type VoteName } from "./board";

export type Command =
  | { do: "stop" }
  | { do: "resume" }
  | { do: "openBallot" }
  | ({ do: "synthesize" } & Schemas["NewSynthesis"])
  | ({ do: "resynthesize" } & Schemas["NewSynthesis"])
  | { do: "retry"; advisor: number; model?: string }
  | { do: "stopAdvisor"; advisor: number }
  | { do: "pick"; advisor: number; try: number }
  | { do: "followUp"; prompt: string; files: readonly AttachedFile[] }
  | { do: "reply"; advisor: number; text: string }
  | { do: "ballot"; advisor: number; votes: { point: number; vote: VoteName; reason: string }[] };

/** Those that the board refuses by itself when they are sent again. */
const REPEATABLE: readonly Command["do"][] = [
  "stop",
  "resume",
  "openBallot",
  "retry",
  "stopAdvisor",
  "pick",
];

function send(id: string, command: Command, key: WriteKey): Promise<Board> {
  // The same one may well be meant anew later, when the board has run on.
  const header = REPEATABLE.includes(command.do) ? writeKey() : key;
  const params = { path: { id }, header };
  switch (command.do) {
    case "stop":
    case "resume":
      return asked(client.POST(`/api/boardrooms/{id}/${command.do}`, { params }));
    case "openBallot":
      return asked(client.POST("/api/boardrooms/{id}/ballot/open", { params }));
    case "synthesize":
    case "resynthesize": {
      const body = { model: command.model, instruction: command.instruction };
      return asked(client.POST(`/api/boardrooms/{id}/${command.do}`, { params, body }));
    }
    case "pick": {
      const params = { path: { id, advisor: command.advisor }, header };
      const body = { try: command.try };
      return asked(client.POST("/api/boardrooms/{id}/advisors/{advisor}/pick", { params, body }));
    }
    case "retry":
    case "stopAdvisor": {
      const params = { path: { id, advisor: command.advisor }, header };
      if (command.do === "stopAdvisor")
        return asked(client.POST("/api/boardrooms/{id}/advisors/{advisor}/stop", { params }));
      const body = { model: command.model };
      return asked(client.POST("/api/boardrooms/{id}/advisors/{advisor}/retry", { params, body }));
    }
    case "followUp": {
      const { prompt, files } = command;
      const body = { prompt, ...(files.length > 0 && { context: contextOf(files) }) };
      return asked(client.POST("/api/boardrooms/{id}/follow-up", { params, body }));
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

/** `onSent` comes also when the page was left meanwhile. `place` is where its words are kept. */
export function useCommand(id: string, place?: string, onSent?: (command: Command) => void) {
  const queries = useQueryClient();
  return useWrite((command: Command, key) => send(id, command, key), {
    ...(place !== undefined && { place }),
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
  if (hidesFrom(board) !== undefined) {
    // A command answers with all of the board: more than is shown now.
    void queries.invalidateQueries({ queryKey: boardKey(board.id) });
    return;
  }
  queries.setQueryData<Board>(boardKey(board.id), (shown) =>
    shown && shown.version > board.version ? shown : board,
  );
}

/** Shows what the others said to whoever has not answered yet. */
export function useShowAnyway(id: string): () => void {
  const queries = useQueryClient();
  return () => {
    showAnyway(id);
    void queries.invalidateQueries({ queryKey: boardKey(id) });
  };
}

export type NewBoardroom = Schemas["NewBoardroom"];

/** `onSent` comes also when the page was left meanwhile. */
export function useConvene(place: string, onSent: (convened: NewBoardroom) => void) {
  const queries = useQueryClient();
  return useWrite(
    (body: NewBoardroom, header): Promise<Board> =>
      asked(client.POST("/api/boardrooms", { params: { header }, body })),
    {
      place,
      onSent: (board, convened) => {
        onSent(convened);
        show(queries, board);
        void queries.invalidateQueries({ queryKey: ["sessions"] });
      },
    },
  );
}
