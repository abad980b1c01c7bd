// A draft: everything about it can still be changed, and then it starts.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useLimits } from "../api/known";
import { useWrite } from "../api/write";
import { SessionHead } from "../session/SessionHead";
import { budgetInWords } from "../ui/Budget";
import { Button } from "../ui/Button";
import { TextArea, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { useCommands } from "./commands";
import { limitsOf } from "./draft";
import { DraftEstimate } from "./DraftEstimate";
import { DraftSeats } from "./DraftSeats";
import { Formats } from "./TopicStep";
import { headline, type Format, type View } from "./words";

interface Texts {
  topic: string;
  name: string;
  format: Format;
  rounds: string;
}

interface Saved {
  body: Schemas["DiscussionEdit"];
  /** What stood in the form then. */
  texts: Partial<Texts>;
  then: "save" | "start";
}

export function DraftPage({ view }: { view: View }) {
  const { id } = view;
  const queries = useQueryClient();
  const commands = useCommands(view);
  const most = limitsOf(useLimits().data).roundsMost;
  const [changed, setChanged] = useState<Partial<Texts>>({});
  const latest = useRef(changed);
  latest.current = changed;
  const shown: Texts = {
    topic: view.topic,
    name: view.name,
    format: view.format,
    rounds: String(view.maxRounds),
    ...changed,
  };
  const edit = editOf(view, shown);
  const isChanged = Object.keys(edit).length > 0;
  const saving = useWrite(
    ({ body }: Saved, header) =>
      asked(client.PATCH("/api/discussions/{id}", { params: { path: { id }, header }, body })),
    {
      onSent: async (_, { texts, then }) => {
        await queries.invalidateQueries({ queryKey: ["discussions", id] });
        const left = without(latest.current, texts);
        setChanged(left);
        // A start would take away what has been written since.
        if (then === "start" && Object.keys(left).length === 0) commands.run("start");
      },
    },
  );
  const send = (then: Saved["then"]) => saving.mutate({ body: edit, texts: changed, then });
  const wrong = (field: string) =>
    saving.error instanceof Problem ? saving.error.field(field) : undefined;
  const change = (part: Partial<Texts>) => setChanged((now) => ({ ...now, ...part }));
  const isBusy = saving.isPending || commands.pending !== undefined;
  function save(event: FormEvent): void {
    event.preventDefault();
    if (isChanged && !isBusy) send("save");
  }
  return (
    <div className="page">
      <SessionHead
        session={{ id, kind: "discussion", title: headline(view.topic, view.name) }}
        status={view.status}
        actions={
          <Button
            look="primary"
            icon="play"
            disabled={isBusy}
            onClick={() => (isChanged ? send("start") : commands.run("start"))}
          >
            Start
          </Button>
        }
      />
      <Wrong error={saving.error ?? commands.error} />
      <form className="card stack" onSubmit={save} aria-label="Topic, format and rounds">
        <TextArea
          label="Topic"
          value={shown.topic}
          wrong={wrong("topic")}
          onChange={(event) => change({ topic: event.target.value })}
        />
        <Formats chosen={shown.format} onChoose={(format) => change({ format })} />
        <div className="field-row">
          <TextField
            label="Name"
            maxLength={200}
            value={shown.name}
            wrong={wrong("name")}
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextField
            label="Maximum rounds"
            inputMode="numeric"
            value={shown.rounds}
            hint={Number.isFinite(most) && `From 1 to ${most}.`}
            wrong={wrong("maxRounds")}
            onChange={(event) => change({ rounds: event.target.value })}
          />
        </div>
        <Facts view={view} />
        {isChanged && (
          <div className="row">
            <Button type="submit" look="primary" disabled={isBusy}>
              Save changes
            </Button>
            <Button disabled={isBusy} onClick={() => setChanged({})}>
              Undo
            </Button>
          </div>
        )}
      </form>
      <DraftSeats view={view} />
      <DraftEstimate view={view} />
      {commands.dialogs}
    </div>
  );
}

/** What was settled when the draft was made. */
function Facts({ view }: { view: View }) {
  const facts = [
    ...(view.budget ? [`Budget: ${budgetInWords(view.budget)}`] : []),
    ...((view.context ?? []).length === 0 ? [] : [`With ${(view.context ?? []).join(", ")}`]),
  ];
  return facts.length > 0 && <p className="muted small">{facts.join(" · ")}</p>;
}

/** What has been written since. */
function without(now: Partial<Texts>, sent: Partial<Texts>): Partial<Texts> {
  const { topic, name, format, rounds } = now;
  return {
    ...(topic !== undefined && topic !== sent.topic && { topic }),
    ...(name !== undefined && name !== sent.name && { name }),
    ...(format !== undefined && format !== sent.format && { format }),
    ...(rounds !== undefined && rounds !== sent.rounds && { rounds }),
  };
}

/** Only what is not as it was. */
function editOf(view: View, shown: Texts): Schemas["DiscussionEdit"] {
  return {
    ...(shown.topic !== view.topic && { topic: shown.topic }),
    ...(shown.name !== view.name && { name: shown.name }),
    ...(shown.format !== view.format && { format: shown.format }),
    ...(shown.rounds.trim() !== String(view.maxRounds) && { maxRounds: Number(shown.rounds) || 0 }),
  };
}
