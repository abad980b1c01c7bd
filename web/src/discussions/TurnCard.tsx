import { memo, useEffect, useRef, type RefObject } from "react";
import { Markdown } from "../markdown/Markdown";
import { IconButton } from "../ui/Button";
import { copy } from "../ui/announce";
import { Cut, Spent } from "../ui/Spent";
import { some } from "../ui/time";
import { CardHead } from "./CardHead";
import { Fold, useFold } from "./Fold";
import { failureSentence, roleName, type Entry } from "./words";

interface Props {
  entry: Entry;
  /** The question, where no card above has it. */
  asked: string | undefined;
  /** It came while the reader was here, and nobody has spoken since. */
  isNew: boolean;
  isFollowing: RefObject<boolean>;
}

/** A turn, what a person said between, or a step that was broken off. */
export const TurnCard = memo(function TurnCard({ entry, asked, isNew, isFollowing }: Props) {
  const card = useRef<HTMLElement>(null);
  const { content = "", status, error } = entry;
  const fold = useFold(content, isNew);
  const wasNew = useRef(isNew);
  useEffect(() => {
    // What was read as it came folds when the next one has spoken, but never under somebody's eyes.
    if (wasNew.current && !isNew && (isFollowing.current || !isInView(card.current))) fold.close();
    wasNew.current = isNew;
  });
  return (
    <article
      ref={card}
      className="turn-card"
      data-role={entry.role}
      data-entry={entry.number}
      data-status={status}
      tabIndex={-1}
      aria-label={`${entry.agentName}, ${roleName(entry.role)}${entry.round ? `, round ${entry.round}` : ""}`}
    >
      <CardHead
        name={entry.agentName}
        role={entry.role}
        model={entry.model}
        round={entry.round}
        at={entry.at}
        latencyMs={entry.latencyMs}
        action={
          content !== "" && (
            <IconButton
              className="no-print"
              icon="copy"
              label={`Copy what ${entry.agentName} said`}
              onClick={() => void copy(content)}
            />
          )
        }
      />
      {asked !== undefined && <p className="asked">{asked}</p>}
      {entry.thinking !== undefined && <Thinking text={entry.thinking} />}
      {content !== "" && (
        <Fold fold={fold} name={entry.agentName}>
          <Markdown text={content} under={3} />
        </Fold>
      )}
      <Cut of={entry} />
      {error && (
        <div className="turn-problem" role="note">
          <p>
            {failureSentence(entry.agentName, error)}
            {content !== "" && " What arrived is above."}
          </p>
          <p className="muted small">{error.message}</p>
        </div>
      )}
      {status === "stopped" && (
        <p className="turn-problem">
          {BROKEN_OFF[entry.kind] ?? "Interrupted."}
          {content === "" && " Nothing had arrived."}
        </p>
      )}
      {entry.condensed !== undefined && (
        <p className="muted small">
          {some(entry.condensed, "earlier entry", "earlier entries")} shortened to fit the model.
        </p>
      )}
      {entry.usage && <Spent className="spent" usage={entry.usage} />}
    </article>
  );
});

const BROKEN_OFF: Partial<Record<Entry["kind"], string>> = {
  turn: "This turn was interrupted.",
  synthesis: "The conclusion was interrupted.",
  opening: "The opening was interrupted.",
  evaluation: "The decision was interrupted.",
};

export function Thinking({ text }: { text: string }) {
  return (
    <details className="thinking">
      <summary>Thinking</summary>
      <Markdown text={text} under={3} />
    </details>
  );
}

function isInView(element: HTMLElement | null): boolean {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}
