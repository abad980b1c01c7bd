// A saved board, added or changed.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { asked, client, Problem } from "../api/client";
import { seatedInTurn, useBoardPresets, useLimits, useModels } from "../api/known";
import { forgetSent, useWrite } from "../api/write";
import { BoardEditor } from "../boardrooms/BoardEditor";
import type { Presets } from "../boardrooms/board";
import { saved, setupFrom, setupOf, type SavedBoard, type Setup } from "../boardrooms/setup";
import { useStored } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { TextField } from "../ui/Field";
import { Notice, Wrong } from "../ui/Notice";
import { roomName } from "../whiteboards/names";
import { FormProblem } from "../ui/FormProblem";

const NEW = "new";

interface Draft {
  title: string;
  description: string;
  setup: Setup;
}

const NO_DRAFT: Draft = { title: "", description: "", setup: setupOf([]) };

/** What is being filled in is kept there until it is saved. */
export function placeOf(name: string | undefined): string {
  return `board-form.${name ?? ""}`;
}

export function BoardForm({ name }: { name: string }) {
  const presets = useBoardPresets();
  const board = useQuery({
    queryKey: ["boards", name],
    queryFn: () => asked(client.GET("/api/boards/{name}", { params: { path: { name } } })),
    enabled: name !== NEW,
  });
  for (const { error, refetch } of [presets, board]) {
    if (error) return <Wrong error={error} onRetry={() => void refetch()} />;
  }
  if (!presets.data || (name !== NEW && !board.data)) return <Loading what="Loading the board" />;
  return <Form presets={presets.data} board={board.data} />;
}

function Form({ presets, board }: { presets: Presets; board: SavedBoard | undefined }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const inTurn = seatedInTurn(useModels().data ?? []);
  const limits = useLimits().data;
  const place = placeOf(board?.name);
  const [begun] = useState<Draft>(() => ({
    title: board?.title ?? "",
    description: board?.description ?? "",
    setup: board ? setupFrom(board) : setupOf(["advocate", "critic", "analyst"]),
  }));
  const [kept, keep] = useStored<Draft | null>(place, null, NO_DRAFT);
  const { title, description, setup } = kept ?? begun;
  const change = (to: Partial<Draft>) => keep({ title, description, setup, ...to });
  const save = useWrite(
    (body: ReturnType<typeof saved>, header) => {
      if (!board) {
        const named = { name: roomName(body.title ?? ""), ...body };
        return asked(client.POST("/api/boards", { params: { header }, body: named }));
      }
      const params = { path: { name: board.name }, header };
      return asked(client.PATCH("/api/boards/{name}", { params, body }));
    },
    {
      place,
      onSent: async (_, sent) => {
        await queries.invalidateQueries({ queryKey: ["boards"] });
        const text = JSON.stringify(sent);
        forgetSent<Draft>(place, (now) => JSON.stringify(saved(now.setup, now)) === text);
      },
    },
  );
  const problem = save.error instanceof Problem ? save.error : undefined;
  const submit = () =>
    save.mutate(saved(setup, { title, description }), {
      onSuccess: (made) => {
        toast(`${made.title} saved`);
        go("/library/boards");
      },
    });
  return (
    <form
      className="stack"
      aria-label={board ? `Edit ${board.title}` : "New board"}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{board ? `Edit ${board.title}` : "New board"}</h2>
      {(board?.missing ?? []).length > 0 && (
        <Notice look="warn">
          {board?.missing?.map((one) => (
            <p key={one}>{one}</p>
          ))}
        </Notice>
      )}
      <TextField
        label="Name"
        placeholder="Security board"
        value={title}
        wrong={problem?.field("title") ?? problem?.field("name")}
        onChange={(event) => change({ title: event.target.value })}
      />
      <TextField
        label="Description"
        hint="One line, shown in lists."
        value={description}
        wrong={problem?.field("description")}
        onChange={(event) => change({ description: event.target.value })}
      />
      <BoardEditor
        setup={setup}
        presets={presets}
        inTurn={inTurn}
        advisorsMost={limits?.boardroom["advisors"]?.most ?? Infinity}
        problem={problem}
        isSaved
        onChange={(next) => change({ setup: next })}
      />
      <FormProblem error={save.error} />
      <div className="row">
        <Button type="submit" look="primary" disabled={save.isPending || title.trim() === ""}>
          {save.isPending ? "Saving…" : "Save"}
        </Button>
        <Link className="button" href="/library/boards" onClick={() => keep(undefined)}>
          Cancel
        </Link>
        {kept && (
          <Button look="quiet" onClick={() => keep(undefined)}>
            Start over
          </Button>
        )}
      </div>
    </form>
  );
}
