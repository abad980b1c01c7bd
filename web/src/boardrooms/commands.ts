// What can be done to a board. Every command answers with the board as it stands then, which
// goes straight to the screen.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asked, client, writeKey, type Schemas } from "../api/client";
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

export function send(id: string, command: Command): Promise<Board> {
  const header = writeKey();
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

export function useCommand(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (command: Command) => send(id, command),
    onSuccess: (board) => queries.setQueryData(boardKey(id), board),
    // A refusal often means that the board has moved on: show where it stands.
    onError: () => void queries.invalidateQueries({ queryKey: boardKey(id) }),
  });
}

export function useRemove(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => asked(client.DELETE("/api/boardrooms/{id}", { params: { path: { id } } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

export type NewBoardroom = Schemas["NewBoardroom"] & { ballot?: boolean };

export function useConvene() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewBoardroom): Promise<Board> =>
      asked(client.POST("/api/boardrooms", { params: { header: writeKey() }, body })),
    onSuccess: (board) => {
      queries.setQueryData(boardKey(board.id), board);
      void queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
}
