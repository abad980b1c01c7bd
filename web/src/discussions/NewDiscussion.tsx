// The wizard: topic and format, who is there, how long. Everything typed is kept in this
// browser until the discussion is made.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent, type RefObject } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem } from "../api/client";
import { useDiscussionPresets, useLimits } from "../api/known";
import { useWrite } from "../api/write";
import { useAsked } from "../shell/search";
import { useTitle } from "../shell/Shell";
import { remember, remembered } from "../stored";
import { Button } from "../ui/Button";
import { Notice, Wrong } from "../ui/Notice";
import { useEveryAgent } from "../library/useAgents";
import "./discussions.css";
import {
  agentSeat,
  body,
  FRESH,
  limitsOf,
  seated,
  stepOf,
  wrongs as findWrongs,
  wrongsOf,
  type Draft,
  type StepNumber,
  type Wrongs,
} from "./draft";
import { RoundsStep } from "./RoundsStep";
import { SeatsStep } from "./SeatsStep";
import { Summary } from "./Summary";
import { TopicStep } from "./TopicStep";

const STORED = "discussion-draft";
const STEPS: readonly { number: StepNumber; title: string }[] = [
  { number: 1, title: "Topic and format" },
  { number: 2, title: "Facilitator and participants" },
  { number: 3, title: "Rounds and review" },
];
const NONE: Wrongs = new Map();

export default function NewDiscussion() {
  useTitle("New discussion");
  const [, go] = useLocation();
  const { draft, change, former, restore, startOver } = useDraft();
  const presets = useDiscussionPresets();
  const agents = useEveryAgent();
  const limits = limitsOf(useLimits().data);
  const full = seated(draft, presets.data);
  const found = findWrongs(full, agents.data ?? [], limits);
  const [shown, setShown] = useState<ReadonlySet<StepNumber>>(new Set());
  const [refused, setRefused] = useState<Wrongs>(NONE);
  const form = useRef<HTMLFormElement>(null);
  const making = useMaking(
    (id) => go(`/discussions/${id}`),
    (problem) => {
      const fields = wrongsOf(problem);
      setRefused(fields);
      const first = [...fields.keys()][0];
      if (first !== undefined) show(stepOf(first));
    },
  );

  /** What is wrong is said once somebody has tried to go on, and what the server said until it is changed. */
  const wrongs = new Map([...refused, ...[...found].filter(([field]) => shown.has(stepOf(field)))]);
  const edit = (part: Partial<Draft>) => {
    change(part);
    if (refused.size > 0) setRefused(NONE);
    if (making.error) making.reset();
  };
  const show = (step: StepNumber) => {
    change({ step });
    focusStep(form);
  };
  const wrongStep = (upTo: StepNumber) =>
    STEPS.find(
      ({ number }) => number <= upTo && [...found.keys()].some((field) => stepOf(field) === number),
    );

  function leave(step: StepNumber): boolean {
    const wrong = wrongStep(step);
    setShown(
      new Set([...shown, ...STEPS.filter((one) => one.number <= step).map((one) => one.number)]),
    );
    if (!wrong) return true;
    show(wrong.number);
    return false;
  }
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (draft.step === 3) make(true);
    else if (leave(draft.step)) show((draft.step + 1) as StepNumber);
  }
  function make(start: boolean): void {
    if (leave(3) && !making.isPending) making.mutate({ ...body(full, start) });
  }

  const fields = { draft: full, wrongs, limits, onChange: edit };
  return (
    <div className="page wizard-page">
      <header className="page-head">
        <div>
          <p className="eyebrow">Discussion</p>
          <h1>New discussion</h1>
        </div>
        <Button look="quiet" onClick={() => startOver()}>
          Start over
        </Button>
      </header>
      {former && (
        <Notice action={<Button onClick={() => restore(former)}>Restore</Button>}>
          You have an unsent draft: “{former.topic.slice(0, 80)}”
        </Notice>
      )}
      <Steps now={draft.step} wrongs={wrongs} onChoose={show} />
      <div className="wizard">
        <form ref={form} className="wizard-step stack" onSubmit={onSubmit} noValidate>
          <h2 tabIndex={-1} data-step-heading="">
            {STEPS.find((step) => step.number === draft.step)?.title}
          </h2>
          <Wrong error={presets.error ?? agents.error} />
          {draft.step === 1 && <TopicStep {...fields} />}
          {draft.step === 2 && <SeatsStep {...fields} />}
          {draft.step === 3 && <RoundsStep {...fields} isWhole={found.size === 0} />}
          <Wrong error={making.error} />
          <div className="wizard-foot">
            {draft.step > 1 && (
              <Button icon="left" onClick={() => show((draft.step - 1) as StepNumber)}>
                Back
              </Button>
            )}
            <span className="spread" />
            {draft.step === 3 && (
              <Button disabled={making.isPending} onClick={() => make(false)}>
                Save as draft
              </Button>
            )}
            <Button
              type="submit"
              look="primary"
              disabled={making.isPending}
              icon={draft.step === 3 ? "play" : "right"}
            >
              {draft.step === 3 ? "Start" : "Continue"}
            </Button>
          </div>
        </form>
        <Summary draft={full} agents={agents.data ?? []} limits={limits} />
      </div>
    </div>
  );
}

function Steps({
  now,
  wrongs,
  onChoose,
}: {
  now: StepNumber;
  wrongs: Wrongs;
  onChoose: (step: StepNumber) => void;
}) {
  return (
    <nav aria-label="Steps">
      <ol className="wizard-steps">
        {STEPS.map(({ number, title }) => {
          const isWrong = [...wrongs.keys()].some((field) => stepOf(field) === number);
          return (
            <li key={number}>
              <button
                type="button"
                aria-current={number === now ? "step" : undefined}
                onClick={() => onChoose(number)}
              >
                <span className="step-number" data-wrong={isWrong || undefined}>
                  {isWrong ? "!" : number}
                </span>
                <span className="step-title">{title}</span>
                {isWrong && <span className="unseen">, something is missing</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** The first wrong field of a step, or its heading. */
function focusStep(form: RefObject<HTMLFormElement | null>): void {
  requestAnimationFrame(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong]');
    (wrong ?? form.current?.querySelector<HTMLElement>("[data-step-heading]"))?.focus();
  });
}

/** The draft of this browser. What the address asks for begins a new one, and keeps the former. */
function useDraft() {
  const [, go] = useLocation();
  const asksFor = useAsked();
  const [begun] = useState(() => begin(asksFor));
  const [draft, setDraft] = useState(begun.draft);
  const [former, setFormer] = useState(begun.former);
  useEffect(() => {
    // Whoever has only looked leaves nothing behind.
    const isFresh = JSON.stringify({ ...draft, step: 1 }) === JSON.stringify(FRESH);
    remember(STORED, isFresh ? undefined : draft);
  }, [draft]);
  useEffect(() => {
    if (asksFor.size > 0) go("/discussions/new", { replace: true });
  }, [asksFor, go]);
  return {
    draft,
    former,
    change: (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part })),
    restore: (to: Draft) => {
      setDraft(to);
      setFormer(undefined);
    },
    startOver: () => {
      if (draft.topic.trim() !== "") setFormer(draft);
      setDraft(FRESH);
    },
  };
}

function begin(asksFor: URLSearchParams): { draft: Draft; former?: Draft } {
  const kept: Draft = { ...FRESH, ...remembered<Partial<Draft>>(STORED, {}, FRESH) };
  const topic = asksFor.get("topic")?.trim() ?? "";
  if (topic !== "" && topic !== kept.topic) {
    return { draft: { ...FRESH, topic }, ...(kept.topic.trim() !== "" && { former: kept }) };
  }
  // The library sends somebody here to lead or to take part; what was written stays.
  const leads = asksFor.get("facilitator");
  const joins = asksFor.get("with");
  const others = kept.seats?.filter((seat) => seat.agentId !== joins) ?? [];
  return {
    draft: {
      ...kept,
      ...(leads && { leader: { kind: "agent", agentId: leads, name: "", choice: "" } }),
      ...(joins && { seats: [...others, agentSeat(joins)] }),
    },
  };
}

/** Makes the discussion once, also when the answer got lost and it is sent again. */
function useMaking(onMade: (id: string) => void, onRefused: (problem: Problem) => void) {
  const queries = useQueryClient();
  return useWrite(
    (made: ReturnType<typeof body>, header) =>
      asked(client.POST("/api/discussions", { body: made, params: { header } })),
    {
      place: STORED,
      onSent: (view) => {
        remember(STORED, undefined);
        void queries.invalidateQueries({ queryKey: ["sessions"] });
        onMade(view.id);
      },
      onError: (error) => {
        if (error instanceof Problem) onRefused(error);
      },
    },
  );
}
