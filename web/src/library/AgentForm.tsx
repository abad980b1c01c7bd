// Adding, copying or changing an agent. A style fills in everything with one click; what is
// then written takes its place.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client, Problem } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { bound, TextArea, TextField } from "../ui/Field";
import { Notice } from "../ui/Notice";
import { BLANK, copyName, draftOf, fieldsOf, isBlank, type AgentDraft } from "./agentDraft";
import type { Agent } from "./useAgents";
import { MoreFields } from "./MoreFields";
import { Styles } from "./Styles";
import { placeOf, useDraft } from "./useDraft";

export type Start =
  | { from: "nothing"; isFacilitator: boolean }
  | { from: "copy"; agent: Agent }
  | { from: "edit"; agent: Agent };

interface Props {
  start: Start;
  onClose: () => void;
  onSaved: (agent: Agent) => void;
}

export function AgentForm({ start, onClose, onSaved }: Props) {
  const isFacilitator = start.from === "nothing" ? start.isFacilitator : start.agent.isFacilitator;
  const noun = isFacilitator ? "facilitator" : "agent";
  const place = placeOf(draftName(start, noun));
  const { draft, change, forget, isKept } = useDraft(place, begun(start));
  const [copyOf, setCopyOf] = useState(start.from === "copy" ? start.agent.id : undefined);
  const [before, setBefore] = useState<AgentDraft>();
  const save = useSaving(start, place, isFacilitator);
  const problem = save.error instanceof Problem ? save.error : undefined;
  const field = bound(draft, change, problem);
  const submit = () =>
    save.mutate(requestOf(draft, isFacilitator, copyOf), {
      onSuccess: (agent) => {
        toast(start.from === "edit" ? `${agent.name} saved` : `${agent.name} added`);
        onSaved(agent);
      },
    });
  return (
    <Confirm
      title={titleOf(start, noun)}
      action={start.from === "edit" ? "Save" : `Add ${noun}`}
      doing="Saving…"
      wide
      isReady={draft.name.trim() !== "" && draft.persona.trim() !== ""}
      isBusy={save.isPending}
      error={save.error}
      onClose={onClose}
      onSure={submit}
      extra={
        isKept && (
          <Button
            look="quiet"
            onClick={() => {
              forget();
              setCopyOf(start.from === "copy" ? start.agent.id : undefined);
            }}
          >
            Start over
          </Button>
        )
      }
    >
      {start.from === "nothing" && (
        <Styles
          isFacilitator={isFacilitator}
          chosen={copyOf}
          onChoose={(agent, names) => {
            setCopyOf(agent?.id);
            setBefore(isBlank(draft) ? undefined : draft);
            change(agent ? { ...draftOf(agent), name: copyName(agent.name, names) } : BLANK);
          }}
        />
      )}
      {before && (
        <Notice
          action={
            <Button
              onClick={() => {
                change(before);
                setBefore(undefined);
              }}
            >
              Undo
            </Button>
          }
        >
          Your text was replaced.
        </Notice>
      )}
      <TextField label="Name" {...field("name")} />
      <TextField label="Description" hint="One line, shown in lists." {...field("description")} />
      <TextArea
        label="Persona"
        hint={
          isFacilitator
            ? "How it leads: whom it asks next, when it has heard enough, and what the conclusion looks like. Sent to the model word for word."
            : "Who it is, what it looks for, and how it talks. Sent to the model word for word."
        }
        rows={9}
        {...field("persona")}
      />
      <MoreFields draft={draft} problem={problem} onChange={change} />
    </Confirm>
  );
}

function draftName(start: Start, noun: string): string {
  return start.from === "nothing" ? `new-${noun}` : `${start.from}-agent.${start.agent.id}`;
}

function begun(start: Start): AgentDraft {
  if (start.from === "nothing") return BLANK;
  const draft = draftOf(start.agent);
  return start.from === "edit" ? draft : { ...draft, name: copyName(draft.name, []) };
}

function titleOf(start: Start, noun: string): string {
  if (start.from === "nothing") return `New ${noun}`;
  return start.from === "edit" ? `Edit ${start.agent.name}` : `Copy of ${start.agent.name}`;
}

type NewAgent = ReturnType<typeof requestOf>;

function requestOf(draft: AgentDraft, isFacilitator: boolean, copyOf: string | undefined) {
  return { ...fieldsOf(draft), isFacilitator, ...(copyOf !== undefined && { copyOf }) };
}

function useSaving(start: Start, place: string, isFacilitator: boolean) {
  const queries = useQueryClient();
  return useWrite(
    (body: NewAgent, header) => {
      if (start.from !== "edit")
        return asked(client.POST("/api/agents", { params: { header }, body }));
      const { copyOf: _, ...fields } = body;
      const params = { path: { id: start.agent.id }, header };
      return asked(client.PATCH("/api/agents/{id}", { params, body: fields }));
    },
    {
      place,
      onSent: (_, sent) => {
        forgetSent<AgentDraft>(
          place,
          (kept) =>
            JSON.stringify(requestOf(kept, isFacilitator, sent.copyOf)) === JSON.stringify(sent),
        );
        return queries.invalidateQueries({ queryKey: ["agents"] });
      },
    },
  );
}
