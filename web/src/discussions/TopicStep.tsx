import { useState, type DragEvent, type KeyboardEvent } from "react";
import { useDiscussionPresets } from "../api/known";
import { IconButton } from "../ui/Button";
import { TextArea, TextField } from "../ui/Field";
import { size, sizeInWords, useFiles } from "../ui/files";
import { Icon } from "../ui/icons";
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

function Files({ draft, wrongs, limits, onChange }: StepProps) {
  const { add, remove, refused } = useFiles(draft.files, limits, (files) => onChange({ files }));
  const [isOver, setOver] = useState(false);
  const wrong = [...wrongs].find(([field]) => field.startsWith("context"))?.[1];
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void add(event.dataTransfer.files);
  };
  return (
    <div className="field">
      <span className="label">Files (optional)</span>
      <label
        className="drop"
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Icon name="file" />
        <span>Add text files for everyone to read</span>
        <input
          type="file"
          multiple
          className="unseen"
          onChange={(event) => {
            if (event.target.files) void add(event.target.files);
            event.target.value = "";
          }}
        />
      </label>
      {(refused.length > 0 || wrong !== undefined) && (
        <Notice look="bad">
          {wrong !== undefined && <p>{wrong}</p>}
          {refused.map((why) => (
            <p key={why}>{why}</p>
          ))}
        </Notice>
      )}
      {draft.files.length > 0 && (
        <ul className="file-list" aria-label="Files">
          {draft.files.map((file) => (
            <li key={file.name}>
              <Icon name="file" />
              <span className="title">{file.name}</span>
              <span className="muted small">{sizeInWords(size(file.text))}</span>
              <IconButton
                icon="close"
                label={`Remove ${file.name}`}
                onClick={() => remove(file.name)}
              />
            </li>
          ))}
        </ul>
      )}
      <span className="hint">
        Plain text, Markdown or code
        {Number.isFinite(limits.fileBytes) && `, ${sizeInWords(limits.fileBytes)} each`}. Sent with
        the topic.
      </span>
    </div>
  );
}
