// What a session is called, and whether it is pinned. Both belong to lists and not to the
// session's own record, so its view does not tell them.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { toast } from "../ui/announce";
import { Confirm } from "../ui/Confirm";
import { TextField } from "../ui/Field";
import type { MenuItem } from "../ui/Menu";

const keyOf = (id: string | undefined) => ["label", id];

export function useLabel(id: string | undefined): Schemas["SessionView"] | undefined {
  return useQuery<Schemas["SessionView"]>({
    queryKey: keyOf(id),
    queryFn: () => asked(client.GET("/api/sessions/{id}", { params: { path: { id: id ?? "" } } })),
    enabled: id !== undefined,
  }).data;
}

/** Calls a session something else, or pins it, for everybody. */
export function useRelabel() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: Partial<Schemas["NewLabel"]> & { id: string }) =>
      asked(client.PATCH("/api/sessions/{id}", { params: { path: { id } }, body })),
    onSuccess: (label) => {
      queries.setQueryData(keyOf(label.id), label);
      return queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
}

interface Labelled {
  id: string;
  title: string;
  pinned?: boolean | undefined;
}

/** To rename and to pin, as a menu offers them, and the dialog that one of them opens. */
export function useLabelling(session: Labelled): { items: MenuItem[]; dialog: ReactNode } {
  const { id, pinned = false } = session;
  const [isRenaming, setRenaming] = useState(false);
  const relabel = useRelabel();
  // The row moves to another list, and is gone from this one, before all of it is done.
  const pin = () =>
    relabel.mutateAsync({ id, pinned: !pinned }).then(
      () => toast(pinned ? "Unpinned" : "Pinned to the top"),
      ({ message }: Error) => toast(message),
    );
  return {
    items: [
      { label: "Rename…", icon: "edit", run: () => setRenaming(true) },
      {
        label: pinned ? "Unpin" : "Pin to the top",
        icon: pinned ? "unpin" : "pin",
        run: () => void pin(),
      },
    ],
    dialog: isRenaming && <Rename session={session} onClose={() => setRenaming(false)} />,
  };
}

function Rename({ session, onClose }: { session: Labelled; onClose: () => void }) {
  const [title, setTitle] = useState(session.title);
  const field = useRef<HTMLDivElement>(null);
  const rename = useRelabel();
  const problem = rename.error instanceof Problem ? rename.error.field("title") : undefined;
  useEffect(() => {
    const input = field.current?.querySelector("input");
    input?.focus();
    input?.select();
  }, []);
  return (
    <Confirm
      title="Rename this session"
      action="Save"
      doing="Saving…"
      isBusy={rename.isPending}
      error={rename.error}
      onClose={onClose}
      onSure={() => rename.mutate({ id: session.id, title }, { onSuccess: onClose })}
    >
      <div ref={field}>
        <TextField
          label="Title"
          hint="Everyone sees it. Leave it empty to restore the original title."
          value={title}
          wrong={problem}
          onChange={(event) => setTitle(event.target.value)}
        />
      </div>
    </Confirm>
  );
}
