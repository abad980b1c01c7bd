// What can be done with a discussion: each by one button, one shortcut and one request.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { asked, client, writeKey } from "../api/client";
import { Confirm } from "../ui/Confirm";
import type { View } from "./words";

export type Command = "start" | "pause" | "resume" | "stop" | "conclude";

export interface Commands {
  /** Which one is under way. */
  pending: Command | undefined;
  error: unknown;
  run: (command: Command) => void;
  pauseOrResume: () => void;
  /** Asks first whether it is meant. */
  askToConclude: () => void;
  dialogs: ReactNode;
}

export function useCommands(view: View): Commands {
  const { id } = view;
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const sending = useMutation({
    mutationFn: (command: Command) => send(id, command),
    onSettled: () => queries.invalidateQueries({ queryKey: ["discussions", id] }),
  });
  const run = (command: Command) => {
    if (!sending.isPending && view.allowed.includes(command)) sending.mutate(command);
  };
  return {
    pending: sending.isPending ? sending.variables : undefined,
    error: sending.error,
    run,
    pauseOrResume: () => run(view.allowed.includes("pause") ? "pause" : "resume"),
    askToConclude: () => setAsking(view.allowed.includes("conclude")),
    dialogs: isAsking && (
      <Confirm
        title="Conclude now?"
        action="Conclude now"
        onClose={() => setAsking(false)}
        onSure={() => {
          setAsking(false);
          run("conclude");
        }}
      >
        <p>
          The conclusion is written from what has been said so far. A turn in progress is
          interrupted, and what it has said is kept.
        </p>
      </Confirm>
    ),
  };
}

function send(id: string, command: Command) {
  const params = { params: { path: { id }, header: writeKey() } };
  switch (command) {
    case "start":
      return asked(client.POST("/api/discussions/{id}/start", params));
    case "pause":
      return asked(client.POST("/api/discussions/{id}/pause", params));
    case "resume":
      return asked(client.POST("/api/discussions/{id}/resume", params));
    case "stop":
      return asked(client.POST("/api/discussions/{id}/stop", params));
    case "conclude":
      return asked(client.POST("/api/discussions/{id}/conclude", params));
  }
}
