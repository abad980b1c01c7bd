// Writing a post. What is typed stays in this browser until it is sent.

import { useId, useState, type FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent } from "../api/write";
import { remembered, useStored } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { bound, SelectField, TextArea, TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { draftPlace, useBoardPage, useWriteHere } from "./board";
import { TooLate } from "./NoteForm";
import {
  POST_TYPES,
  SEVERITIES,
  severityOf,
  typeOf,
  type PostType,
  type Severity,
} from "./wording";

interface Draft {
  type: PostType;
  title: string;
  body: string;
  targetFile: string;
  targetLocation: string;
  severity: Severity | "";
  /** One per line. */
  findingRefs: string;
  cascadeTargets: string;
}

const EMPTY: Draft = {
  type: "proposal",
  title: "",
  body: "",
  targetFile: "",
  targetLocation: "",
  severity: "",
  findingRefs: "",
  cascadeTargets: "",
};

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function request(draft: Draft, type: PostType): Schemas["NewPost"] {
  return {
    type,
    title: draft.title,
    body: draft.body,
    ...(draft.targetFile.trim() !== "" && { targetFile: draft.targetFile }),
    ...(draft.targetLocation.trim() !== "" && { targetLocation: draft.targetLocation }),
    ...(draft.severity !== "" && { severity: draft.severity }),
    findingRefs: lines(draft.findingRefs),
    cascadeTargets: lines(draft.cascadeTargets),
  };
}

/** In the debate a post is the exception, so its form takes no room until it is wanted. */
export function PostForm() {
  const { looking, view, can } = useBoardPage();
  const [draft, setDraft] = useStored<Draft>(draftPlace(looking, "post"), EMPTY);
  const [isWanted, setWanted] = useState(false);
  if (!can("post") && !can("post informational")) {
    if (draft.title === "" && draft.body === "") return null;
    const text = `${draft.title}\n\n${draft.body}`.trim();
    return <TooLate text={text} onDiscard={() => setDraft(undefined)} />;
  }
  if (view.phase === "blind" || isWanted || draft.title !== "" || draft.body !== "")
    return <WholeForm isWanted={isWanted} onSend={() => setWanted(true)} />;
  return (
    <div className="no-print">
      <Button icon="plus" data-new-post="" onClick={() => setWanted(true)}>
        Add information
      </Button>
    </div>
  );
}

interface WholeProps {
  isWanted: boolean;
  /** The form stays until the answer is there, also when its draft is gone. */
  onSend: () => void;
}

function WholeForm({ isWanted, onSend }: WholeProps) {
  const { looking, view, can } = useBoardPage();
  const place = draftPlace(looking, "post");
  const [draft, setDraft] = useStored<Draft>(place, EMPTY);
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const types = POST_TYPES.filter((one) =>
    can(one === "informational" ? "post informational" : "post"),
  );
  const type = types.includes(draft.type) ? draft.type : (types[0] ?? "informational");
  const send = useWriteHere(
    looking,
    place,
    (body: Schemas["NewPost"], header) =>
      asked(
        client.POST("/api/whiteboards/{board}/posts", {
          params: { path: { board: looking.board }, header },
          body,
        }),
      ),
    (sent) =>
      forgetSent<Draft>(
        place,
        (kept) => JSON.stringify(request(kept, sent.type)) === JSON.stringify(sent),
      ),
  );
  const problem = send.error instanceof Problem ? send.error : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
    send.mutate(request(draft, type), {
      onSuccess: () => {
        toast("Posted");
        // Whoever has gone on writing stays where they are.
        if (remembered(place, EMPTY) !== EMPTY) return;
        document.querySelector<HTMLElement>("[data-new-post]")?.focus();
      },
    });
  };

  const field = bound(draft, change, problem);
  return (
    <form className="card post-form no-print" aria-label="Write a post" onSubmit={submit}>
      <TypeChoice types={types} chosen={type} onChoose={(one) => change({ type: one })} />
      <TextField
        label="Title"
        labelUnseen
        data-new-post=""
        autoFocus={isWanted}
        placeholder="The point in one line"
        {...field("title")}
      />
      <TextArea
        label="Reasons"
        labelUnseen
        rows={3}
        placeholder="The reasons, with evidence. Markdown works."
        {...field("body")}
      />
      <MoreFields draft={draft} problem={problem} onChange={change} />
      {(problem?.fields.length ?? 0) === 0 && <Wrong error={send.error} />}
      <div className="row">
        <span className="muted small post-form-note">
          {view.phase === "blind"
            ? "No one else sees it until the board moves to read. It cannot be edited."
            : "Everyone sees it immediately. It cannot be edited."}
        </span>
        <Button
          look="primary"
          type="submit"
          className="spread"
          disabled={draft.title.trim() === "" || draft.body.trim() === "" || send.isPending}
        >
          {send.isPending ? "Posting…" : "Post"}
        </Button>
      </div>
    </form>
  );
}

interface TypeChoiceProps {
  types: PostType[];
  chosen: PostType;
  onChoose: (type: PostType) => void;
}

function TypeChoice({ types, chosen, onChoose }: TypeChoiceProps) {
  const name = useId();
  return (
    <fieldset className="type-choice">
      <legend className="unseen">Kind of post</legend>
      {types.map((one) => (
        <label key={one} title={typeOf(one).about}>
          <input type="radio" name={name} checked={one === chosen} onChange={() => onChoose(one)} />
          <span>
            <Icon name={typeOf(one).icon} size={12} />
            {typeOf(one).word}
          </span>
        </label>
      ))}
      <span className="muted small type-about">{typeOf(chosen).about}</span>
    </fieldset>
  );
}

interface MoreProps {
  draft: Draft;
  problem: Problem | undefined;
  onChange: (part: Partial<Draft>) => void;
}

/** The structured fields, by which conflicts are found. */
function MoreFields({ draft, problem, onChange }: MoreProps) {
  const field = bound(draft, onChange, problem);
  const listProblem = (name: string) =>
    problem?.fields.find((one) => one.field === name || one.field.startsWith(`${name}[`))?.problem;
  const isFilled = [
    draft.targetFile,
    draft.targetLocation,
    draft.severity,
    draft.findingRefs,
    draft.cascadeTargets,
  ].some((value) => value !== "");
  return (
    <details className="fold" open={isFilled || undefined}>
      <summary>More fields</summary>
      <p className="muted small">These help find posts that conflict.</p>
      <div className="more-fields">
        <TextField
          label="File"
          placeholder="src/cache.rs"
          spellCheck={false}
          {...field("targetFile")}
        />
        <TextField
          label="Lines or symbol"
          placeholder="12-40"
          spellCheck={false}
          {...field("targetLocation")}
        />
        <SelectField
          label="Severity"
          value={draft.severity}
          onChange={(event) => onChange({ severity: event.target.value as Severity | "" })}
          none="None"
          options={SEVERITIES.map((one) => [one, severityOf(one).word])}
        />
        <TextArea
          label="Findings, one per line"
          rows={2}
          placeholder="CVE-2026-1234"
          spellCheck={false}
          value={draft.findingRefs}
          wrong={listProblem("findingRefs")}
          onChange={(event) => onChange({ findingRefs: event.target.value })}
        />
        <TextArea
          label="Other affected files, one per line"
          rows={2}
          placeholder="src/main.rs"
          spellCheck={false}
          value={draft.cascadeTargets}
          wrong={listProblem("cascadeTargets")}
          onChange={(event) => onChange({ cascadeTargets: event.target.value })}
        />
      </div>
    </details>
  );
}
