import { useRef, type Ref, type RefObject } from "react";
import type { LiveSession } from "../live/session";
import { CONCLUSION_ID } from "./ConclusionCard";
import type { Known } from "./data";
import { DecisionCard } from "./DecisionCard";
import { LiveCard } from "./LiveCard";
import { PersonsTurn } from "./PersonsTurn";
import { TurnCard } from "./TurnCard";
import type { Entry, Step, View } from "./words";

interface Props {
  ref: Ref<HTMLDivElement>;
  known: Known;
  live: LiveSession;
  /** Whether the reader is at the end. */
  isFollowing: RefObject<boolean>;
}

/** What was said, from the first word to the one being said. */
export function Timeline({ ref, known, live, isFollowing }: Props) {
  const { view, entries } = known;
  const there = useRef(entries.length);
  const lastTurn = entries.findLast((entry) => entry.kind === "turn")?.number;
  const { step } = view;
  const runs = view.status === "active" || view.status === "pausing";
  const waits = runs && step?.waitsForPerson === true;
  return (
    <section className="timeline" aria-label="Timeline" ref={ref}>
      <h2 className="unseen">What was said</h2>
      {entries.map((entry) =>
        entry.decision ? (
          <DecisionCard key={entry.number} entry={entry} view={view} />
        ) : (
          <TurnCard
            key={entry.number}
            entry={entry}
            asked={asksAgain(entries, entry)}
            isNew={entry.number > there.current && entry.number === lastTurn}
            isFollowing={isFollowing}
          />
        ),
      )}
      {step && (waits || (view.status === "paused" && isPersons(view, step))) && (
        <PersonsTurn key={step.callId} view={view} step={step} />
      )}
      {runs && step && !waits && <LiveCard key={step.callId} view={view} step={step} live={live} />}
      {!runs && step && <Resting view={view} next={step.name} />}
      {view.status === "concluded" && (
        <p className="resting">
          <button type="button" className="show-more no-print" onClick={toConclusion}>
            Read the conclusion
          </button>
        </p>
      )}
    </section>
  );
}

/** What a person has begun to write stays in sight while the discussion rests. */
function isPersons(view: View, step: Step): boolean {
  const seats = [view.moderator, ...view.participants];
  return seats.some((seat) => seat.id === step.participantId && seat.person);
}

function toConclusion(): void {
  const conclusion = document.getElementById(CONCLUSION_ID);
  conclusion?.scrollIntoView({ block: "start" });
  conclusion?.focus({ preventScroll: true });
}

/** The question stands in the decision before; a turn says it only where that is not so. */
function asksAgain(entries: readonly Entry[], entry: Entry): string | undefined {
  const before = entries[entry.number - 2];
  return before?.decision && before.question === entry.question ? undefined : entry.question;
}

const RESTS: Partial<Record<View["status"], string>> = {
  paused: "Paused.",
  stopped: "Stopped.",
  failed: "It stopped here because of an error.",
};

function Resting({ view, next }: { view: View; next: string }) {
  return (
    <p className="resting muted">
      {RESTS[view.status]} {next} is next.
    </p>
  );
}
