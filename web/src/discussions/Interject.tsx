import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, type FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { remembered, useKeptText } from "../stored";
import { Button, IconButton } from "../ui/Button";
import { GrowingArea } from "../ui/Field";
import { isSending } from "../ui/keys";
import { Wrong } from "../ui/Notice";
import { toast } from "../ui/announce";
import type { View } from "./words";

interface Props {
  view: View;
  /** Somebody pressed the button or the key. */
  isAsked: boolean;
  onDone: () => void;
}

/** A message of a person between the turns. */
export function Interject({ view, isAsked, onDone }: Props) {
  const { id } = view;
  const queries = useQueryClient();
  const kept = `interjection.${id}`;
  const [text, setText] = useKeptText(kept);
  const [by, setBy] = useKeptText("my-name");
  const form = useRef<HTMLFormElement>(null);
  const sending = useWrite(
    (body: Schemas["Interjection"], header) =>
      asked(
        client.POST("/api/discussions/{id}/interject", { params: { path: { id }, header }, body }),
      ),
    {
      place: kept,
      onSent: (_, sent) => {
        forgetSent<string>(kept, (now) => now.trim() === sent.text);
        toast("Sent. Everyone sees it after the current step.");
        void queries.invalidateQueries({ queryKey: ["discussions", id] });
      },
    },
  );
  useEffect(() => {
    if (isAsked) form.current?.querySelector("textarea")?.focus();
  }, [isAsked]);
  const isWaiting = view.step?.waitsForPerson === true;
  if (!view.allowed.includes("interject") || (isWaiting && !isAsked)) return null;
  function send(event?: FormEvent): void {
    event?.preventDefault();
    if (text.trim() === "" || sending.isPending) return;
    const name = by.trim();
    const said = { text: text.trim(), ...(name !== "" && { by: name }) };
    sending.mutate(said, {
      // Whoever has gone on writing is not done.
      onSuccess: () => remembered(kept, "") === "" && onDone(),
    });
  }
  const wrong = sending.error instanceof Problem ? sending.error : undefined;
  return (
    <form ref={form} className="interject" onSubmit={send} aria-label="Interject">
      <Wrong error={sending.error} />
      <div className="interject-row">
        <input
          className="input by"
          aria-label="Your name"
          aria-invalid={wrong?.field("by") !== undefined || undefined}
          placeholder="Organizer"
          maxLength={120}
          value={by}
          onChange={(event) => setBy(event.target.value)}
        />
        <GrowingArea
          className="input"
          rows={1}
          aria-label="Add a remark between turns"
          placeholder="Add a remark between turns"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              event.currentTarget.blur();
              onDone();
            }
            if (!isSending(event)) return;
            event.preventDefault();
            send();
          }}
        />
        <Button type="submit" look="primary" disabled={text.trim() === "" || sending.isPending}>
          Send
        </Button>
        {isWaiting && <IconButton icon="close" label="Close" onClick={onDone} />}
      </div>
    </form>
  );
}
