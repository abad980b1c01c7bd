// A person is awaited: to speak, to decide how it goes on, or to conclude.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { asked, client, Problem, writeKey, type Schemas } from "../api/client";
import { remember, remembered } from "../stored";
import { Button } from "../ui/Button";
import { SelectField, TextArea } from "../ui/Field";
import { Glyph } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { duration, moment, useNow } from "../ui/time";
import type { Step, View } from "./words";

interface Props {
  view: View;
  step: Step;
}

export function PersonsTurn({ view, step }: Props) {
  const seat = view.participants.find((one) => one.id === step.participantId);
  const isDeciding = view.allowed.includes("decide");
  return (
    <section
      className="persons-turn"
      data-role={seat?.role ?? "moderator"}
      aria-labelledby="persons-turn"
    >
      <div className="persons-head">
        <Glyph role="person" />
        <h3 id="persons-turn">It is {step.name}’s turn</h3>
        <Remaining until={step.replyBy} />
      </div>
      {step.question !== undefined && (
        <p className="persons-question">
          <span className="muted small">{view.moderator.name} asks</span>
          {step.question}
        </p>
      )}
      {isDeciding ? <Decide view={view} step={step} /> : <Reply view={view} step={step} />}
    </section>
  );
}

function Remaining({ until }: { until: string | undefined }) {
  const now = useNow(until !== undefined);
  if (until === undefined) {
    return <span className="muted small spread">The discussion waits as long as it takes.</span>;
  }
  const left = Date.parse(until) - now;
  return (
    <span className="muted small spread number" title={moment(until)}>
      {left > 0 ? `${duration(left)} left` : "The time is over"}
    </span>
  );
}

/** Text of this step, kept until it is sent. */
function useKept(view: View, step: Step, name: string): [string, (text: string) => void] {
  const key = `turn.${view.id}.${step.callId}.${name}`;
  const [text, setText] = useState(() => remembered(key, ""));
  return [
    text,
    (next) => {
      setText(next);
      remember(key, next === "" ? undefined : next);
    },
  ];
}

function Reply({ view, step }: Props) {
  const { id } = view;
  const queries = useQueryClient();
  const [text, keep] = useKept(view, step, "text");
  const isConclusion = step.kind === "synthesis";
  const sending = useMutation({
    mutationFn: () =>
      asked(
        client.POST("/api/discussions/{id}/reply", {
          params: { path: { id }, header: writeKey() },
          body: { text: text.trim(), participantId: step.participantId },
        }),
      ),
    onSuccess: () => {
      keep("");
      void queries.invalidateQueries({ queryKey: ["discussions", id] });
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      <TextArea
        label={isConclusion ? "The conclusion" : `What ${step.name} says`}
        rows={isConclusion ? 8 : 4}
        value={text}
        hint="Markdown is understood. The text is kept in this browser until it is sent."
        wrong={field(sending.error, "text")}
        onChange={(event) => keep(event.target.value)}
      />
      <Wrong error={sending.error} />
      <div className="row">
        <Button type="submit" look="primary" disabled={sending.isPending || text.trim() === ""}>
          {isConclusion ? "Conclude with this" : "Send"}
        </Button>
      </div>
    </form>
  );
}

function Decide({ view, step }: Props) {
  const { id } = view;
  const queries = useQueryClient();
  const speakers = view.participants.filter((seat) => seat.role !== "observer");
  const [next, keepNext] = useKept(view, step, "next");
  const [question, keepQuestion] = useKept(view, step, "question");
  const [reasoning, keepReasoning] = useKept(view, step, "reasoning");
  const sending = useMutation({
    mutationFn: (body: Schemas["PersonsDecision"]) =>
      asked(
        client.POST("/api/discussions/{id}/decide", {
          params: { path: { id }, header: writeKey() },
          body,
        }),
      ),
    onSuccess: () => {
      keepNext("");
      keepQuestion("");
      keepReasoning("");
      void queries.invalidateQueries({ queryKey: ["discussions", id] });
    },
  });
  const because = reasoning.trim() === "" ? {} : { reasoning: reasoning.trim() };
  const speaker = next === "" ? (speakers[0]?.id ?? "") : next;
  function go(event: FormEvent): void {
    event.preventDefault();
    const chosen = { nextParticipantId: speaker, question: question.trim() };
    sending.mutate({ decision: "continue", ...chosen, ...because });
  }
  return (
    <form className="stack" onSubmit={go}>
      <SelectField
        label="Who speaks next"
        value={speaker}
        wrong={field(sending.error, "nextParticipantId")}
        onChange={(event) => keepNext(event.target.value)}
      >
        {speakers.map((seat) => (
          <option key={seat.id} value={seat.id}>
            {seat.name}
          </option>
        ))}
      </SelectField>
      <TextArea
        label="What they are asked"
        rows={2}
        value={question}
        wrong={field(sending.error, "question")}
        onChange={(event) => keepQuestion(event.target.value)}
      />
      <TextArea
        label="Why (optional)"
        rows={1}
        hint="Everybody reads it."
        value={reasoning}
        wrong={field(sending.error, "reasoning")}
        onChange={(event) => keepReasoning(event.target.value)}
      />
      <Wrong error={sending.error} />
      <div className="row">
        <Button type="submit" look="primary" disabled={sending.isPending || question.trim() === ""}>
          Give the floor
        </Button>
        {step.kind === "evaluation" && (
          <Button
            icon="flag"
            disabled={sending.isPending}
            onClick={() => sending.mutate({ decision: "synthesize", ...because })}
          >
            Enough was said: conclude
          </Button>
        )}
      </div>
    </form>
  );
}

function field(error: unknown, name: string): string | undefined {
  return error instanceof Problem ? error.field(name) : undefined;
}
