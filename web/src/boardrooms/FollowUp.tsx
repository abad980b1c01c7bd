// The next question to the same board, with what came of this one attached.

import { useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { forgetSent } from "../api/once";
import { useStored } from "../stored";
import { Button } from "../ui/Button";
import { GrowingArea } from "../ui/Field";
import type { TextFile } from "../ui/files";
import { Wrong } from "../ui/Notice";
import { verdictOf, type Board } from "./board";
import { useConvene } from "./commands";
import { isConvening } from "./ConveneForm";
import { FileChips } from "./FileChips";
import { begun, handle, mentioned, unaddressed } from "./mentions";
import { sameSeat } from "./setup";

/** Whoever has just asked goes on typing here, not on the page, where single keys do things. */
let hasAsked = false;

export function FollowUp({ board, isNarrow }: { board: Board; isNarrow: boolean }) {
  const place = `follow-up.${board.id}`;
  const [text, setText] = useStored(place, "");
  const [isAttached, setAttached] = useState(true);
  const [, go] = useLocation();
  const convene = useConvene(({ prompt }) =>
    forgetSent<string>(place, (kept) => unaddressed(kept, board.advisors) === prompt),
  );
  const box = useRef<HTMLFormElement>(null);
  const earlier = useMemo(() => earlierBoard(board), [board]);
  const addressed = mentioned(text, board.advisors);
  const question = unaddressed(text, board.advisors);
  const start = begun(text);
  const offered =
    start === undefined
      ? []
      : board.advisors.filter((advisor) => handle(advisor).startsWith(start));
  const canAsk = question !== "" && !convene.isPending;

  useEffect(() => {
    if (hasAsked) box.current?.querySelector("textarea")?.focus();
    hasAsked = false;
  }, []);

  const ask = () => {
    if (!canAsk) return;
    const seats = addressed.length > 0 ? addressed : board.advisors;
    const { quorum } = board;
    convene.mutate(
      {
        prompt: question,
        advisors: seats.map((seat) => sameSeat(board, seat)),
        ...(board.synthesizers[0] !== undefined && { synthesizer: board.synthesizers[0] }),
        ...(quorum &&
          quorum.need <= seats.length && {
            quorum: { need: quorum.need, graceSeconds: quorum.graceSeconds },
          }),
        ...(board.ballot && { ballot: true }),
        ...(isAttached && { context: [earlier] }),
      },
      {
        onSuccess: (made) => {
          hasAsked = true;
          go(`/boardrooms/${made.id}`);
        },
      },
    );
  };
  const complete = (name: string) => {
    setText(`${text.slice(0, text.lastIndexOf("@"))}@${name} `);
    box.current?.querySelector("textarea")?.focus();
  };

  return (
    <div className="follow-up no-print">
      <Wrong error={convene.error} />
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
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <div className="composer-text">
          <GrowingArea
            aria-label="Follow-up for the board"
            placeholder={`Ask the board a follow-up…${isNarrow ? "" : "  @critic to address one advisor"}`}
            rows={1}
            value={text}
            onChange={(event) =>
              setText(event.target.value === "" ? undefined : event.target.value)
            }
            onKeyDown={(event) => {
              const first = offered[0];
              const isPicking = first && event.key === "Tab" && !event.shiftKey;
              if (!isConvening(event) && !isPicking) return;
              event.preventDefault();
              if (first) complete(handle(first));
              else ask();
            }}
          />
          {text !== "" && (
            <div className="row">
              {isAttached && <FileChips files={[earlier]} onRemove={() => setAttached(false)} />}
              <span className="muted small">
                {addressed.length > 0
                  ? `Only ${addressed.map((advisor) => advisor.name).join(", ")}`
                  : "The same advisors, as a new board"}
              </span>
            </div>
          )}
        </div>
        <span className="composer-key muted small" aria-hidden="true">
          ⏎ convene
        </span>
        <Button type="submit" look="primary" icon="play" disabled={!canAsk}>
          Convene
        </Button>
      </form>
    </div>
  );
}

/** Question and verdict as a file for the next board. */
function earlierBoard(board: Board): TextFile {
  const verdict = verdictOf(board);
  const text = [
    `# The earlier question\n\n${board.prompt}`,
    verdict
      ? `# The board's verdict on it\n\n${verdict.text}`
      : "The board has come to no verdict on it.",
  ].join("\n\n");
  return { name: "Earlier question and verdict.md", text };
}
