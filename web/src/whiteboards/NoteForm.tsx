// Adding something to a post: a validation, a challenge, an answer. The form says what it
// means, and keeps its text until it is sent.

import { useId, useState, type FormEvent } from "react";
import { Problem } from "../api/client";
import { forgetSent } from "../api/write";
import { remembered, useKeptText } from "../stored";
import { copy, toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { TextArea } from "../ui/Field";
import { Notice, Wrong } from "../ui/Notice";
import { draftPlace, focusCard, useAnnotate, useBoardPage, type Looking } from "./board";
import { findingOf, FINDINGS, type AnnotationType, type Finding } from "./wording";

interface Words {
  label: string;
  hint: string;
  send: string;
  sent: string;
}

function words(type: AnnotationType, challengeId: string | undefined): Words {
  switch (type) {
    case "validation":
      return {
        label: "What you checked, and how",
        hint: "Your last validation of a post counts.",
        send: "Validate",
        sent: "Validated",
      };
    case "challenge":
      return {
        label: "What you doubt, and why",
        hint: "It stays open until someone else settles it or you withdraw it.",
        send: "Challenge",
        sent: "Challenged",
      };
    case "corroboration":
      return {
        label: "What supports it",
        hint: "Evidence of your own helps more than agreement.",
        send: "Corroborate",
        sent: "Corroborated",
      };
    case "rebuttal":
      return {
        label: challengeId ? "Your answer to this challenge" : "Your reply to the challenges",
        hint: "As the author you answer; the challenge stays open until it is settled.",
        send: "Reply",
        sent: "Reply sent",
      };
    case "withdrawal":
      return challengeId
        ? {
            label: "Why you withdraw it (optional)",
            hint: "This closes the challenge.",
            send: "Withdraw the challenge",
            sent: "Challenge withdrawn",
          }
        : {
            label: "Why you withdraw it (optional)",
            hint: "The post stays readable, but cannot be chosen or voted on. This cannot be undone.",
            send: "Withdraw the post",
            sent: "Post withdrawn",
          };
    case "resolution":
      return {
        label: "How it is settled",
        hint: "This closes the challenge, for the record.",
        send: "Settle the challenge",
        sent: "Challenge settled",
      };
  }
}

interface Props {
  postId: string;
  type: AnnotationType;
  challengeId?: string;
  /** The board has moved on while this was written: it can be copied, but not sent. */
  isLate: boolean;
  onClose: () => void;
}

interface Noted {
  postId: string;
  type: AnnotationType;
  challengeId?: string | null | undefined;
}

function placeOf(looking: Looking, { postId, type, challengeId }: Noted): string {
  return draftPlace(looking, postId, challengeId ?? "", type);
}

export function NoteForm({ postId, type, challengeId, isLate, onClose }: Props) {
  const { looking } = useBoardPage();
  const place = placeOf(looking, { postId, type, challengeId });
  const [body, setBody] = useKeptText(place);
  const [result, setResult] = useState<Finding>();
  const send = useAnnotate(looking, place, (sent) =>
    forgetSent<string>(placeOf(looking, sent), (kept) => kept === sent.body),
  );
  const problem = send.error instanceof Problem ? send.error : undefined;
  const { label, hint, send: verb, sent } = words(type, challengeId);
  const isReady =
    (type === "withdrawal" || body.trim() !== "") && (type !== "validation" || result);
  const leave = () => {
    onClose();
    focusCard(postId);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate(
      { postId, type, body, ...(result && { result }), ...(challengeId && { challengeId }) },
      {
        onSuccess: () => {
          toast(sent);
          // Whoever has gone on writing stays where they are.
          if (remembered(place, "") === "") leave();
        },
      },
    );
  };
  return (
    <form className="note-form no-print" aria-label={verb} onSubmit={submit}>
      {type === "validation" && (
        <FindingChoice chosen={result} onChoose={setResult} wrong={problem?.field("result")} />
      )}
      <TextArea
        label={label}
        hint={hint}
        rows={2}
        autoFocus
        value={body}
        wrong={problem?.field("body") ?? problem?.field("challengeId")}
        onChange={(event) => setBody(event.target.value)}
      />
      {isLate && <TooLate text={body} />}
      {(problem?.fields.length ?? 0) === 0 && <Wrong error={send.error} />}
      <div className="row">
        <Button
          look={type === "withdrawal" ? "danger" : "primary"}
          type="submit"
          disabled={!isReady || isLate || send.isPending}
        >
          {send.isPending ? "Sending…" : verb}
        </Button>
        <Button look="quiet" onClick={leave}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** Nothing that was typed is lost when a phase ends. */
export function TooLate({ text, onDiscard }: { text: string; onDiscard?: () => void }) {
  return (
    <Notice look="warn">
      <p>
        The board moved on before this was sent, so it cannot be sent. Your text is kept in this
        browser.
      </p>
      <div className="row too-late">
        <Button icon="copy" onClick={() => void copy(text)}>
          Copy the text
        </Button>
        {onDiscard && (
          <Button look="quiet" onClick={onDiscard}>
            Discard
          </Button>
        )}
      </div>
    </Notice>
  );
}

interface FindingProps {
  chosen: Finding | undefined;
  onChoose: (finding: Finding) => void;
  wrong: string | undefined;
}

function FindingChoice({ chosen, onChoose, wrong }: FindingProps) {
  const name = useId();
  return (
    <fieldset className="choices">
      <legend className="legend">Result</legend>
      {FINDINGS.map((one) => (
        <label key={one} className="choice">
          <input type="radio" name={name} checked={one === chosen} onChange={() => onChoose(one)} />
          <span>
            {findingOf(one).word} <span className="muted small">{findingOf(one).about}</span>
          </span>
        </label>
      ))}
      {wrong && (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </fieldset>
  );
}
