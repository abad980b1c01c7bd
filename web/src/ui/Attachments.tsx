// Files of a form, everywhere alike: by button, by drop, by paste. A long text that is
// pasted becomes a file, and every file can be opened.

import { useState, type ClipboardEvent, type DragEvent } from "react";
import { useLimits, useModels } from "../api/known";
import { announce } from "./announce";
import { Button, IconButton } from "./Button";
import { Dialog } from "./Dialog";
import { FilePicker } from "./FilePicker";
import {
  fileLimits,
  freeName,
  isImage,
  LONG_PASTE_CHARACTERS,
  size,
  sizeInWords,
  tokensOf,
  useFiles,
  type AttachedFile,
} from "./files";
import { Icon } from "./icons";
import { Notice } from "./Notice";
import { count } from "./time";

export type Attachments = ReturnType<typeof useAttachments>;

export function useAttachments(
  files: readonly AttachedFile[],
  onChange: (files: AttachedFile[]) => void,
  images = true,
) {
  const held = useFiles(files, { ...fileLimits(useLimits().data), images }, onChange);
  const [isOver, setOver] = useState(false);
  const paste = (event: ClipboardEvent) => {
    const { clipboardData: pasted } = event;
    const text = pasted.getData("text/plain");
    if (pasted.files.length > 0) {
      event.preventDefault();
      void held.add(pasted.files);
    } else if (text.length > LONG_PASTE_CHARACTERS) {
      event.preventDefault();
      const name = freeName(files, "pasted", "txt");
      void held.add([new File([text], name)]);
      announce(`The pasted text was attached as ${name}`);
    }
  };
  /** For whatever files can be dropped on. */
  const zone = {
    "data-over": isOver || undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false);
      // A text that is dragged goes where it is dropped.
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      void held.add([...event.dataTransfer.files]);
    },
    onPaste: paste,
  };
  return { ...held, zone };
}

export function AttachButton({ of, isShort = false }: { of: Attachments; isShort?: boolean }) {
  return (
    <FilePicker label="Attach files" multiple onPick={(files) => void of.add(files)}>
      {(pick) =>
        isShort ? (
          <IconButton icon="attach" label="Attach files" onClick={pick} />
        ) : (
          <Button look="quiet" icon="attach" onClick={pick}>
            Attach files
          </Button>
        )
      }
    </FilePicker>
  );
}

/** What is attached, what could not be, and whether models can read that much. */
export function Attached({ of: { files, refused, remove } }: { of: Attachments }) {
  const [opened, setOpened] = useState<AttachedFile>();
  if (files.length === 0 && refused.length === 0) return null;
  return (
    <div className="attached">
      {files.length > 0 && (
        <ul className="file-chips" aria-label="Attached files">
          {files.map((file) => (
            <li key={file.name} className="file-chip">
              <button
                type="button"
                className="link-button"
                title={`Open ${file.name}`}
                onClick={() => setOpened(file)}
              >
                <Icon name="file" />
                <span className="chip-name">{file.name}</span>
              </button>
              <span className="muted">{sizeInWords(size(file))}</span>
              <IconButton
                icon="close"
                label={`Remove ${file.name}`}
                onClick={() => remove(file.name)}
              />
            </li>
          ))}
          <Room files={files} />
        </ul>
      )}
      {refused.length > 0 && (
        <Notice look="bad">
          {refused.map((reason) => (
            <p key={reason}>{reason}</p>
          ))}
        </Notice>
      )}
      {opened && <FileDialog file={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

/** Their size against the smallest model that says how much it reads. */
function Room({ files }: { files: readonly AttachedFile[] }) {
  const models = useModels().data ?? [];
  const tokens = tokensOf(files);
  const known = models.flatMap(({ name, window }) =>
    window ? [{ name, most: window.tokens }] : [],
  );
  const least = known.reduce<(typeof known)[number] | undefined>(
    (one, other) => (one && one.most <= other.most ? one : other),
    undefined,
  );
  if (tokens === 0) return null;
  const about = `About ${count(tokens)} tokens`;
  return least && tokens > least.most ? (
    <li className="file-room warned">
      {about}: more than {least.name} can read ({count(least.most)})
    </li>
  ) : (
    <li className="file-room muted">{about}</li>
  );
}

export function FileDialog({ file, onClose }: { file: AttachedFile; onClose: () => void }) {
  return (
    <Dialog title={file.name} wide onClose={onClose}>
      {"text" in file ? (
        <pre className="file-text" tabIndex={0} role="group" aria-label={file.name}>
          {file.text}
        </pre>
      ) : isImage(file) ? (
        <img
          className="file-image"
          src={`data:${file.mediaType};base64,${file.data}`}
          alt={file.name}
        />
      ) : (
        <p className="muted">
          A PDF of {sizeInWords(size(file))}. Advisors get its text, not its pictures.
        </p>
      )}
    </Dialog>
  );
}
