import { useRef, useState, type KeyboardEvent } from "react";
import { Link } from "wouter";
import { Problem, type Schemas } from "../api/client";
import { defaults } from "../boardrooms/defaults";
import { Foreseen } from "../boardrooms/Foreseen";
import { remember, remembered } from "../stored";
import { AttachButton, Attached, useAttachments } from "../ui/Attachments";
import { budgetOf } from "../ui/Budget";
import { Button } from "../ui/Button";
import { Field, GrowingArea } from "../ui/Field";
import type { AttachedFile } from "../ui/files";
import { isSending } from "../ui/keys";
import { useNarrow } from "../ui/narrow";
import { Wrong } from "../ui/Notice";
import { BoardCards } from "./BoardCards";
import type { Board, Sample } from "./boards";
import { bodyOf, LAST_BOARD, UNSENT, useConvene } from "./convene";

const FIRST_BOARD = "classic-triad";

interface Props {
  boards: readonly Board[];
  roles: readonly Schemas["RoleView"][];
  samples: readonly Sample[];
}

/** The one large prompt box. */
export function Ask({ boards, roles, samples }: Props) {
  const [prompt, setPrompt] = useState(() => remembered(UNSENT, ""));
  const [chosen, setChosen] = useState<string>();
  const [files, setFiles] = useState<AttachedFile[]>([]);
  const attachments = useAttachments(files, setFiles);
  const isNarrow = useNarrow();
  const area = useRef<HTMLDivElement>(null);
  const { convene, isConvening, error } = useConvene();
  // A board that was remembered may not be there any more.
  const names = [chosen, defaults().board, remembered(LAST_BOARD, FIRST_BOARD)];
  const [known = boards[0]] = names.flatMap((name) => boards.filter((one) => one.name === name));
  const board = known?.name ?? FIRST_BOARD;
  const budget = known?.budget ? undefined : budgetOf(defaults().allowance);
  const question = { prompt, board, files, ...(budget && { budget }) };
  const send = () => convene(question);

  const write = (text: string) => {
    setPrompt(text);
    remember(UNSENT, text === "" ? undefined : text);
  };
  const fill = (sample: Sample) => {
    write(sample.text);
    area.current?.querySelector("textarea")?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (!isSending(event)) return;
    event.preventDefault();
    send();
  };
  const more = new URLSearchParams({ ...(prompt !== "" && { prompt }), board });
  const wrong = error instanceof Problem ? error.field("prompt") : undefined;

  return (
    <form
      className="ask"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="ask-box" ref={area} {...attachments.zone}>
        <Field label="Your question" labelUnseen wrong={wrong && `The question ${wrong}.`}>
          {(described) => (
            <GrowingArea
              {...described}
              rows={3}
              value={prompt}
              onChange={(event) => write(event.target.value)}
              onKeyDown={press}
              autoFocus={hasKeyboard()}
              placeholder="Ask a question worth several opinions"
              aria-keyshortcuts="Enter"
            />
          )}
        </Field>
        <Attached of={attachments} />
        <div className="ask-foot">
          <AttachButton of={attachments} isShort={isNarrow} />
          <Link href={`/boardrooms?${more}`} className="button quiet">
            More options
          </Link>
          <Foreseen body={bodyOf(question)} isShort />
          <span className="ask-hint" aria-hidden="true">
            <kbd>⏎</kbd> convene <kbd>⇧ ⏎</kbd> new line
          </span>
          <Button
            type="submit"
            look="primary"
            icon="play"
            disabled={isConvening || prompt.trim() === ""}
          >
            {isConvening ? "Convening…" : "Convene"}
          </Button>
        </div>
      </div>
      {wrong === undefined && <Wrong error={error} />}
      <BoardCards boards={boards} roles={roles} chosen={board} onChoose={setChosen} />
      <div className="samples" role="group" aria-label="Sample prompts">
        <span className="samples-word" aria-hidden="true">
          Or try
        </span>
        {samples.map((sample) => (
          <button
            key={sample.id}
            type="button"
            className="chip"
            title={sample.text}
            onClick={() => fill(sample)}
          >
            {sample.name}
          </button>
        ))}
      </div>
    </form>
  );
}

/** Where there is none, a focused box would cover half the page with keys. */
function hasKeyboard(): boolean {
  return window.matchMedia("(hover: hover) and (pointer: fine)").matches;
}
