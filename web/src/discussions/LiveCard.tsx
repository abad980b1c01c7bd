import { Markdown } from "../markdown/Markdown";
import type { LiveSession, Retrying, Waiting } from "../live/session";
import { BEGUN_AGAIN, useBegunAgain, useText } from "../live/texts";
import { duration } from "../ui/time";
import { CardHead } from "./CardHead";
import { doing, type Step, type View } from "./words";

interface Props {
  view: View;
  step: Step;
  live: LiveSession;
}

/** The step under way. A decision is an answer for machines, so its text is not shown. */
export function LiveCard({ view, step, live }: Props) {
  const arriving = useText(live.texts.of(step.callId));
  const hasBegunAgain = useBegunAgain(live.texts.of(step.callId));
  const thought = useText(live.reasonings.of(step.callId));
  const text = arriving === "" ? (step.text ?? "") : arriving;
  const seat = [view.moderator, ...view.participants].find((one) => one.id === step.participantId);
  const isDeciding = step.kind === "opening" || step.kind === "evaluation";
  const isShown = !isDeciding && text !== "";
  return (
    <article
      className={isDeciding ? "decision-card live" : "turn-card live"}
      data-role={seat?.role ?? "moderator"}
      aria-label={`${step.name}, now`}
      aria-busy="true"
    >
      <CardHead
        name={step.name}
        role={seat?.role ?? "moderator"}
        model={seat?.model}
        round={step.kind === "turn" ? view.round : undefined}
        state={state(step, isShown, thought !== "", live.held.get(step.callId))}
      />
      {isShown && hasBegunAgain && <p className="muted small">{BEGUN_AGAIN}</p>}
      {isShown ? (
        <Markdown text={text} live under={3} serif={step.kind === "synthesis"} />
      ) : (
        <p className="muted">
          {step.name} {isDeciding ? doing(step.kind) : "is thinking"}…
        </p>
      )}
    </article>
  );
}

function state(
  step: Step,
  isWriting: boolean,
  isThinking: boolean,
  held: Retrying | Waiting | undefined,
): string {
  if (held && "waitMs" in held) return `retrying in ${duration(held.waitMs)}: ${held.message}`;
  if (held) return `waiting for a busy model, number ${held.place} in line`;
  if (step.kind === "opening" || step.kind === "evaluation") return "deciding";
  if (isWriting) return step.kind === "synthesis" ? "concluding" : "speaking";
  return isThinking ? "thinking it through" : "thinking";
}
