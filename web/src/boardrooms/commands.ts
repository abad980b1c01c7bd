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

type Post = (
  path: string,
  init: { params: object; body?: object },
) => Promise<{ data?: { data: Board }; error?: unknown; response: Response }>;

/** A route that all commands to a board share: it takes a body, and answers with the board. */
const post = client.POST as unknown as Post;

export function send(id: string, command: Command): Promise<Board> {
  const to = (path: string, body?: object) =>
    asked(
      post(`/api/boardrooms/{id}/${path}`, {
        params: { path: { id }, header: writeKey() },
        ...(body && { body }),
      }),
    );
  switch (command.do) {
    case "stop":
    case "resume":
      return to(command.do);
    case "synthesize":
    case "resynthesize":
      return to(command.do, { model: command.model, instruction: command.instruction });
    case "retry":
      return to(`advisors/${command.advisor}/retry`, { model: command.model });
    case "stopAdvisor":
      return to(`advisors/${command.advisor}/stop`);
    case "reply":
      return to("reply", { advisor: command.advisor, text: command.text });
    case "ballot":
      return to("ballot", { advisor: command.advisor, votes: command.votes });
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
