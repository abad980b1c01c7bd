// A person is awaited: to speak, to decide how it goes on, or to conclude.

import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { remember, useKeptText } from "../stored";
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
  const isDeciding = step.kind === "opening" || step.kind === "evaluation";
  const isPaused = view.status === "paused";
  return (
    <section
      className="persons-turn"
      data-role={seat?.role ?? "moderator"}
      aria-labelledby="persons-turn"
    >
      <div className="persons-head">
        <Glyph role="person" />
        <h3 id="persons-turn">It is {step.name}’s turn</h3>
        {isPaused ? (
          <span className="muted small spread">
            Paused. Resume the discussion to send your answer.
          </span>
        ) : (
          <Remaining until={step.replyBy} />
        )}
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
    return <span className="muted small spread">No time limit</span>;
  }
  const left = Date.parse(until) - now;
  return (
    <span className="muted small spread number" title={moment(until)}>
      {left > 0 ? `${duration(left)} left` : "Time is up"}
    </span>
  );
}

/** Where a text of this step is kept until it is sent. */
function placeOf(view: View, step: Step, name: string): string {
  // A step that was paused is another call when it goes on, and the same turn.
  return `turn.${view.id}.${step.callId.replace(/#\d+$/, "")}.${name}`;
}

function Reply({ view, step }: Props) {
  const { id } = view;
  const queries = useQueryClient();
  const place = placeOf(view, step, "text");
  const [text, keep] = useKeptText(place);
  const isConclusion = step.kind === "synthesis";
  const sending = useWrite(
    ({ place: _, ...body }: Schemas["SeatReply"] & { place: string }, header) =>
      asked(client.POST("/api/discussions/{id}/reply", { params: { path: { id }, header }, body })),
    {
      place,
      onSent: (_, sent) => {
        forgetSent<string>(sent.place, (kept) => kept.trim() === sent.text);
        void queries.invalidateQueries({ queryKey: ["discussions", id] });
      },
    },
  );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate({ text: text.trim(), participantId: step.participantId, place });
      }}
    >
      <TextArea
        label={isConclusion ? "The conclusion" : `What ${step.name} says`}
        rows={isConclusion ? 8 : 4}
        value={text}
        hint="Markdown works. Ctrl+Enter sends. Saved in this browser until you send it."
        wrong={field(sending.error, "text")}
        onChange={(event) => keep(event.target.value)}
      />
      <Wrong error={sending.error} />
      <div className="row">
        <Button
          type="submit"
          look="primary"
          disabled={sending.isPending || text.trim() === "" || view.status === "paused"}
        >
          {isConclusion ? "Conclude" : "Send"}
        </Button>
      </div>
    </form>
  );
}

function Decide({ view, step }: Props) {
  const { id } = view;
  const queries = useQueryClient();
  const isPaused = view.status === "paused";
  const speakers = view.participants.filter((seat) => seat.role !== "observer");
  const places = {
    next: placeOf(view, step, "next"),
    question: placeOf(view, step, "question"),
    reasoning: placeOf(view, step, "reasoning"),
  };
  const [next, keepNext] = useKeptText(places.next);
  const [question, keepQuestion] = useKeptText(places.question);
  const [reasoning, keepReasoning] = useKeptText(places.reasoning);
  const sending = useWrite(
    ({ body }: { body: Schemas["PersonsDecision"]; places: typeof places }, header) =>
      asked(
        client.POST("/api/discussions/{id}/decide", { params: { path: { id }, header }, body }),
      ),
    {
      place: places.question,
      onSent: (_, { body, places }) => {
        // Whose turn was next is settled, whatever was chosen.
        remember(places.next, undefined);
        forgetSent<string>(places.question, (kept) => kept.trim() === body.question);
        forgetSent<string>(places.reasoning, (kept) => kept.trim() === body.reasoning);
        void queries.invalidateQueries({ queryKey: ["discussions", id] });
      },
    },
  );
  const because = reasoning.trim() === "" ? {} : { reasoning: reasoning.trim() };
  const speaker = next === "" ? (speakers[0]?.id ?? "") : next;
  function go(event: FormEvent): void {
    event.preventDefault();
    const chosen = { nextParticipantId: speaker, question: question.trim() };
    sending.mutate({ body: { decision: "continue", ...chosen, ...because }, places });
  }
  return (
    <form className="stack" onSubmit={go}>
      <SelectField
        label="Who speaks next"
        value={speaker}
        wrong={field(sending.error, "nextParticipantId")}
        onChange={(event) => keepNext(event.target.value)}
        options={speakers.map((seat) => [seat.id, seat.name])}
      />
      <TextArea
        label="Question for them"
        rows={2}
        value={question}
        wrong={field(sending.error, "question")}
        onChange={(event) => keepQuestion(event.target.value)}
      />
      <TextArea
        label="Why (optional)"
        rows={1}
        hint="Visible to everyone."
        value={reasoning}
        wrong={field(sending.error, "reasoning")}
        onChange={(event) => keepReasoning(event.target.value)}
      />
      <Wrong error={sending.error} />
      <div className="row">
        <Button
          type="submit"
          look="primary"
          disabled={sending.isPending || question.trim() === "" || isPaused}
        >
          Give the floor
        </Button>
        {step.kind === "evaluation" && (
          <Button
            icon="flag"
            disabled={sending.isPending || isPaused}
            onClick={() => sending.mutate({ body: { decision: "synthesize", ...because }, places })}
          >
            Conclude now
          </Button>
        )}
      </div>
    </form>
  );
}

function field(error: unknown, name: string): string | undefined {
  return error instanceof Problem ? error.field(name) : undefined;
}
