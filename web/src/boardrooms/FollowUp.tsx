// The next question to the same board, or to some of it.

import { useRef, useState } from "react";
import { forgetSent } from "../api/write";
import { useKeptText } from "../stored";
import { AttachButton, Attached, useAttachments } from "../ui/Attachments";
import { Button } from "../ui/Button";
import { GrowingArea } from "../ui/Field";
import type { AttachedFile } from "../ui/files";
import { isSending } from "../ui/keys";
import { Wrong } from "../ui/Notice";
import { isRunning, type Board } from "./board";
import { useCommand } from "./commands";
import { addressed, begun, handle } from "./mentions";

export function FollowUp({ board, isNarrow }: { board: Board; isNarrow: boolean }) {
  const place = `follow-up.${board.id}`;
  const [text, setText] = useKeptText(place);
  const [files, setFiles] = useState<AttachedFile[]>([]);
  const attachments = useAttachments(files, setFiles);
  const command = useCommand(board.id, place, (sent) => {
    forgetSent<string>(place, (kept) => sent.do === "followUp" && kept.trim() === sent.prompt);
    setFiles([]);
  });
  const box = useRef<HTMLFormElement>(null);
  const { asked, question } = addressed(text, board.advisors);
  const start = begun(text);
  const offered =
    start === undefined
      ? []
      : board.advisors.filter((advisor) => handle(advisor).startsWith(start));
  const isAllowed = board.allowed.includes("followUp");
  const isLater = !isAllowed && isRunning(board);
  const hint = isLater
    ? "Write a follow-up now; ask it after the verdict"
    : "Ask a follow-up… @critic asks one advisor";
  const canAsk = isAllowed && question !== "" && !command.isPending;

  const ask = () => {
    if (canAsk) command.mutate({ do: "followUp", prompt: text.trim(), files });
  };
  const complete = (name: string) => {
    setText(`${text.slice(0, text.lastIndexOf("@"))}@${name} `);
    box.current?.querySelector("textarea")?.focus();
  };

  return (
    <div className="follow-up no-print">
      <Wrong error={command.error} />
      {offered.length > 0 && (
        <div className="offered" role="group" aria-label="Advisors to address">
          {offered.map((advisor) => (
            <button
              key={advisor.id}
              type="button"
              className="chip"
              onClick={() => complete(handle(advisor))}
            >
              @{handle(advisor)}
            </button>
          ))}
        </div>
      )}
      <form
        ref={box}
        className="composer"
        aria-label="Follow-up"
        {...attachments.zone}
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <AttachButton of={attachments} isShort />
        <div className="composer-text">
          <GrowingArea
            aria-label="Follow-up for the board"
            placeholder={isNarrow ? "Follow-up…" : hint}
            rows={1}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              const first = offered[0];
              const isPicking = first && event.key === "Tab" && !event.shiftKey;
              if (!isSending(event) && !isPicking) return;
              event.preventDefault();
              if (first) complete(handle(first));
              else ask();
            }}
          />
          <Attached of={attachments} />
          {text !== "" && (
            <span className="muted small">{isAllowed ? whoIsAsked(asked) : whyNot(board)}</span>
          )}
        </div>
        <span className="composer-key muted small" aria-hidden="true">
          ⏎ ask
        </span>
        <Button type="submit" look="primary" icon="play" disabled={!canAsk}>
          Ask
        </Button>
      </form>
    </div>
  );
}

function whoIsAsked(asked: readonly { name: string }[]): string {
  return asked.length > 0
    ? `Only ${asked.map((advisor) => advisor.name).join(", ")}`
    : "Goes to the same advisors, who remember the conversation";
}

function whyNot(board: Board): string {
  return isRunning(board)
    ? "You can ask once the verdict is in."
    : "This board takes no more questions.";
}
