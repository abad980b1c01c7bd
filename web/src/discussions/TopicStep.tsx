import type { KeyboardEvent } from "react";
import { useDiscussionPresets } from "../api/known";
import { AttachButton, Attached, useAttachments } from "../ui/Attachments";
import { TextArea, TextField } from "../ui/Field";
import { isSending } from "../ui/keys";
import { Notice } from "../ui/Notice";
import type { Draft, Limits, Seated, Wrongs } from "./draft";
import { FORMATS, formatWords, type Format } from "./words";

export interface StepProps {
  draft: Seated;
  wrongs: Wrongs;
  limits: Limits;
  onChange: (part: Partial<Draft>) => void;
}

export function TopicStep({ draft, wrongs, limits, onChange }: StepProps) {
  return (
    <>
      <TextArea
        label="Topic"
        rows={3}
        autoFocus={draft.topic === ""}
        placeholder="What should they discuss?"
        value={draft.topic}
        wrong={wrongs.get("topic")}
        hint="Enter continues, Shift+Enter adds a line."
        onChange={(event) => onChange({ topic: event.target.value })}
        onKeyDown={goOn}
      />
      <Formats chosen={draft.format} onChoose={(format) => onChange({ format })} />
      <TextField
        label="Name (optional)"
        hint="Shown in lists. If left empty, taken from the topic."
        value={draft.name}
        maxLength={200}
        wrong={wrongs.get("name")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <Files draft={draft} wrongs={wrongs} limits={limits} onChange={onChange} />
    </>
  );
}

/** Enter in a text of several lines goes on like in any other field. */
function goOn(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (!isSending(event)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

export function Formats({
  chosen,
  onChoose,
}: {
  chosen: Format;
  onChoose: (format: Format) => void;
}) {
  const presets = useDiscussionPresets().data;
  return (
    <fieldset className="choices">
      <legend className="legend">Format</legend>
      <div className="format-cards">
        {(Object.keys(FORMATS) as Format[]).map((format) => (
          <label key={format} className="choice-card">
            <input
              type="radio"
              name="format"
              value={format}
              checked={format === chosen}
              onChange={() => onChoose(format)}
            />
            <span className="choice-name">{FORMATS[format]}</span>
            <span className="choice-text">
              {formatWords(presets?.formats.find((one) => one.id === format)?.instruction ?? "")}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Files({ draft, wrongs, onChange }: StepProps) {
  const attachments = useAttachments(draft.files, (files) => onChange({ files }), false);
  const wrong = [...wrongs].find(([field]) => field.startsWith("context"))?.[1];
  return (
    <div className="field drop" role="group" aria-label="Files" {...attachments.zone}>
      <div className="row">
        <AttachButton of={attachments} />
        <span className="hint">Text, Markdown, code or PDF, for everyone to read</span>
      </div>
      {wrong !== undefined && <Notice look="bad">{wrong}</Notice>}
      <Attached of={attachments} />
    </div>
  );
}
