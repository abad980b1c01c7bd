// Keeping the board of this form, to be convened again by its name.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client, Problem } from "../api/client";
import { useWrite } from "../api/write";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { TextField } from "../ui/Field";
import { roomName } from "../whiteboards/names";
import { saved, type SavedBoard, type Setup } from "./setup";

interface Props {
  setup: Setup;
  onSaved: (board: SavedBoard) => void;
}

export function SaveBoard({ setup, onSaved }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [title, setTitle] = useState("");
  const queries = useQueryClient();
  const save = useWrite(
    (body: ReturnType<typeof saved> & { name: string }, header) =>
      asked(client.POST("/api/boards", { params: { header }, body })),
    { onSent: () => queries.invalidateQueries({ queryKey: ["boards"] }) },
  );
  const problem = save.error instanceof Problem ? save.error : undefined;
  const submit = () =>
    save.mutate(
      { name: roomName(title), ...saved(setup, { title, description: "" }) },
      {
        onSuccess: (board) => {
          toast(`${board.title} saved`);
          setOpen(false);
          onSaved(board);
        },
      },
    );
  return (
    <div className="row">
      <Button onClick={() => setOpen(true)}>Save as board…</Button>
      {isOpen && (
        <Confirm
          title="Save this board"
          action="Save"
          doing="Saving…"
          isReady={title.trim() !== ""}
          isBusy={save.isPending}
          error={save.error}
          onClose={() => setOpen(false)}
          onSure={submit}
        >
          <TextField
            label="Name"
            placeholder="Security board"
            hint="You can convene it by this name, here and from the command line."
            value={title}
            wrong={problem?.field("name") ?? problem?.field("title")}
            onChange={(event) => setTitle(event.target.value)}
          />
        </Confirm>
      )}
    </div>
  );
}
