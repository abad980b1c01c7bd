// What can be done with a discussion: each by one button, one shortcut and one request.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { asked, client, writeKey } from "../api/client";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { toast } from "../ui/announce";
import type { View } from "./words";

export type Command = "start" | "pause" | "resume" | "stop" | "conclude";
type Asked = "conclude" | "remove";

export interface Commands {
  /** Which one is under way. */
  pending: Command | undefined;
  error: unknown;
  run: (command: Command) => void;
  pauseOrResume: () => void;
  /** Asks first whether it is meant. */
  ask: (what: Asked) => void;
  dialogs: ReactNode;
}

export function useCommands(view: View): Commands {
  const { id } = view;
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [asking, setAsking] = useState<Asked>();
  const sending = useMutation({
    mutationFn: (command: Command) => send(id, command),
    onSettled: () => queries.invalidateQueries({ queryKey: ["discussions", id] }),
  });
  const removing = useMutation({
    mutationFn: () => asked(client.DELETE("/api/discussions/{id}", { params: { path: { id } } })),
    onSuccess: () => {
      toast("Removed");
      void queries.invalidateQueries({ queryKey: ["sessions"] });
      go("/discussions");
    },
    onError: () => setAsking(undefined),
  });
  const run = (command: Command) => {
    if (!sending.isPending && view.allowed.includes(command)) sending.mutate(command);
  };
  return {
    pending: sending.isPending ? sending.variables : undefined,
    error: sending.error ?? removing.error,
    run,
    pauseOrResume: () => run(view.allowed.includes("pause") ? "pause" : "resume"),
    ask: (what) => {
      if (what === "remove" || view.allowed.includes(what)) setAsking(what);
    },
    dialogs: (
      <>
        {asking === "conclude" && (
          <Sure
            title="Conclude now?"
            action="Conclude now"
            onClose={() => setAsking(undefined)}
            onSure={() => {
              setAsking(undefined);
              run("conclude");
            }}
          >
            The conclusion is written from what has been said so far. A turn in progress is
            interrupted, and what it has said is kept.
          </Sure>
        )}
        {asking === "remove" && (
          <Sure
            title="Remove this discussion?"
            action="Remove"
            isDangerous
            isBusy={removing.isPending}
            onClose={() => setAsking(undefined)}
            onSure={() => removing.mutate()}
          >
            The discussion and everything said in it will be permanently removed. To keep a copy,
            export it first.
          </Sure>
        )}
      </>
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

function Sure({
  title,
  action,
  isDangerous = false,
  isBusy = false,
  onClose,
  onSure,
  children,
}: {
  title: string;
  action: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  onClose: () => void;
  onSure: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={isDangerous ? "danger" : "primary"} disabled={isBusy} onClick={onSure}>
            {action}
          </Button>
        </>
      }
    >
      <p>{children}</p>
    </Dialog>
  );
}
