// One advisor. Only the body follows the text that is being written; the rest of the panel is
// drawn again when something durable has happened.

import { memo, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Retrying, Waiting } from "../live/session";
import { BEGUN_AGAIN, useBegunAgain, useText, type GrowingText, type Texts } from "../live/texts";
import { Markdown } from "../markdown/Markdown";
import { useFollowEnd } from "../session/useFollowEnd";
import { Button, IconButton } from "../ui/Button";
import { copy } from "../ui/announce";
import { Glyph, Icon, inRole } from "../ui/icons";
import { Menu, type MenuItem } from "../ui/Menu";
import { Notice, Wrong } from "../ui/Notice";
import { Cut, Spent } from "../ui/Spent";
import { duration, some, useNow } from "../ui/time";
import { AnotherModel } from "./AnotherModel";
import { failureInWords, isPending, sitter, type Advisor } from "./board";
import { useCommand, useShowAnyway } from "./commands";
import { PersonSeat } from "./PersonSeat";
import type { ScrollSync } from "./scrollSync";
import { isRetrying, standingOf, wordsIn, type Standing } from "./standing";
import { Tries } from "./Tries";

export interface PanelProps {
  board: string;
  advisor: Advisor;
  texts: Texts;
  reasonings: Texts;
  /** Its request is tried again, or waits for a busy model. */
  hold?: Retrying | Waiting | undefined;
  currency: string | undefined;
  /** The last question was not put to it; it shows what it said before. */
  isPast: boolean;
  /** Its vote on the verdict is awaited. */
  isVoting: boolean;
  canRetry: boolean;
  canPick: boolean;
  canStop: boolean;
  canReply: boolean;
  sync: ScrollSync;
  /** `strip`: only the head. `away`: not on screen, but in print. */
  look: "open" | "strip" | "away";
  isFocused: boolean;
  onFocus: (advisor: number) => void;
}

export const Panel = memo(function Panel(props: PanelProps) {
  const { board, advisor, look, isFocused, onFocus } = props;
  const [isChoosing, setChoosing] = useState(false);
  const command = useCommand(board);
  const text = props.texts.of(advisor.callId);
  const retry = () => command.mutate({ do: "retry", advisor: advisor.id });
  const isRetriable = props.canRetry && !isPending(advisor);
  return (
    <section
      className={`panel ${look}${isFocused ? " focused" : ""}`}
      data-status={advisor.status}
      data-advisor={advisor.id}
      aria-label={advisor.name}
      aria-busy={advisor.status === "answering"}
      {...inRole(advisor.role, advisor.ownRole)}
    >
      <header className="panel-head">
        <Glyph role={advisor.role} own={advisor.ownRole} />
        <div className="panel-who">
          <h2>{advisor.name}</h2>
          <span className="mono" title={advisor.model ?? advisor.person}>
            {sitter(advisor)}
          </span>
        </div>
        <div className="panel-tools no-print">
          {props.canStop && (isPending(advisor) || props.isVoting) && look === "open" && (
            <IconButton
              icon="stop"
              label={stopInWords(advisor, props.isVoting)}
              disabled={command.isPending}
              onClick={() => command.mutate({ do: "stopAdvisor", advisor: advisor.id })}
            />
          )}
          {!isPending(advisor) && look === "open" && (
            <Tools
              advisor={advisor}
              isPast={props.isPast}
              isRetriable={isRetriable}
              onRetry={retry}
              onChoose={() => setChoosing(true)}
            />
          )}
          <IconButton
            className="to-focus"
            icon={isFocused ? "shrink" : "expand"}
            label={isFocused ? `Back to all advisors` : `Focus ${advisor.name}`}
            aria-pressed={isFocused}
            onClick={() => onFocus(advisor.id)}
          />
        </div>
        <StandingLine
          advisor={advisor}
          hold={props.hold}
          text={text}
          reasoning={props.reasonings.of(advisor.callId)}
        />
      </header>
      <Body
        {...props}
        text={text}
        reasoning={props.reasonings.of(advisor.callId)}
        isRetriable={isRetriable}
        isBusy={command.isPending}
        onRetry={retry}
        onChoose={() => setChoosing(true)}
      />
      <Spent className="panel-spent" {...advisor} currency={props.currency} />
      {command.error && (
        <div className="panel-wrong">
          <Wrong error={command.error} />
        </div>
      )}
      {isChoosing && (
        <AnotherModel board={board} advisor={advisor} onClose={() => setChoosing(false)} />
      )}
    </section>
  );
});

function stopInWords({ name, person }: Advisor, isVoting: boolean): string {
  if (isVoting) return `Continue without ${person ?? name}’s vote`;
  return person === undefined ? `Stop ${name}` : `Continue without ${person}`;
}

interface ToolsProps {
  advisor: Advisor;
  isPast: boolean;
  isRetriable: boolean;
  onRetry: () => void;
  onChoose: () => void;
}

function Tools({ advisor, isPast, isRetriable, onRetry, onChoose }: ToolsProps) {
  const items: MenuItem[] = [
    ...(advisor.text === ""
      ? []
      : [{ label: "Copy answer", icon: "copy", run: () => void copy(advisor.text) } as const]),
    ...(isRetriable
      ? [
          {
            label: isPast ? "Ask this question too" : "Ask again",
            icon: "retry",
            run: onRetry,
          } as const,
        ]
      : []),
    ...(isRetriable && advisor.person === undefined
      ? [{ label: "Ask another model", icon: "edit", run: onChoose } as const]
      : []),
  ];
  if (items.length === 0) return null;
  return (
    <Menu
      label={`More for ${advisor.name}`}
      face={<Icon name="more" />}
      className="icon-button"
      items={items}
    />
  );
}

interface StandingProps {
  advisor: Advisor;
  hold?: Retrying | Waiting | undefined;
  text: GrowingText;
  reasoning: GrowingText;
}

/** What the advisor does, how much of it there is, and how long it took. */
function StandingLine({ advisor, hold, text, reasoning }: StandingProps) {
  const hasWords = useSyncExternalStore(text.subscribe, () => text.shown !== "");
  const hasThoughts = useSyncExternalStore(reasoning.subscribe, () => reasoning.shown !== "");
  const standing = standingOf(
    advisor,
    hold,
    hasWords ? "words" : hasThoughts ? "thoughts" : undefined,
  );
  const isLive = advisor.status === "answering";
  return (
    <p className="standing" data-standing={standing} title={figures(advisor)}>
      <StandingMark standing={standing} />
      <strong>{standing}</strong>
      {isLive ? (
        <Elapsed advisor={advisor} hold={hold} text={text} />
      ) : (
        advisor.latencyMs !== undefined && (
          <span className="number spread">{duration(advisor.latencyMs)}</span>
        )
      )}
    </p>
  );
}

function StandingMark({ standing }: { standing: Standing }) {
  switch (standing) {
    case "finished":
      return <Icon name="check" size={12} />;
    case "failed":
      return <Icon name="warning" size={12} />;
    case "stopped":
      return <Icon name="stop" size={10} />;
    case "retrying":
      return <Icon name="retry" size={12} />;
    case "in line":
    case "waiting":
      return <Icon name="clock" size={12} />;
    case "asked":
    case "thinking":
    case "writing":
      return <span className="dot live" />;
  }
}

/** Renewed by the second, whatever is written in between. */
function Elapsed({ advisor, hold, text }: Omit<StandingProps, "reasoning">) {
  const now = useNow(true);
  const words = wordsIn(text.shown || advisor.text);
  const since = advisor.startedAt === undefined ? undefined : now - Date.parse(advisor.startedAt);
  return (
    <>
      <span className="number">
        {isRetrying(hold)
          ? `attempt ${hold.attempt + 1}`
          : hold
            ? hold.place > 0 && `number ${hold.place}`
            : words > 0 && some(words, "word")}
      </span>
      <span className="number spread">
        {isRetrying(hold)
          ? `in ${Math.max(0, Math.ceil((hold.until - now) / 1_000))} s`
          : since !== undefined && duration(since)}
      </span>
    </>
  );
}

function figures(advisor: Advisor): string {
  const { firstTextMs, attempts } = advisor;
  return [
    ...(firstTextMs === undefined ? [] : [`First token after ${duration(firstTextMs)}`]),
    ...(attempts !== undefined && attempts > 1 ? [`${attempts} attempts`] : []),
  ].join(" · ");
}

interface BodyProps extends PanelProps {
  text: GrowingText;
  reasoning: GrowingText;
  isRetriable: boolean;
  isBusy: boolean;
  onRetry: () => void;
  onChoose: () => void;
}

function Body(props: BodyProps) {
  const { advisor, hold } = props;
  const isLive = advisor.status === "answering";
  const { sync } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd } = useFollowEnd(
    useCallback(() => scroller.current, []),
    content,
    { starts: isLive, isOn: isLive, onMove: (box) => sync.movesItself(box) },
  );
  useEffect(() => (scroller.current ? sync.add(scroller.current) : undefined), [sync]);
  const jump = () => {
    toEnd();
    scroller.current?.focus({ preventScroll: true });
  };
  return (
    <div className="panel-frame">
      <div
        className="panel-body"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={`${advisor.name}’s answer`}
      >
        <div ref={content}>
          {props.isPast && (
            <p className="aside-note">Not asked this time. This answers an earlier question.</p>
          )}
          <Thoughts reasoning={props.reasoning} advisor={advisor} />
          {advisor.status === "waiting" ? (
            <PersonSeat board={props.board} advisor={advisor} canReply={props.canReply} />
          ) : advisor.hidden ? (
            <Hidden board={props.board} />
          ) : (
            <Answer
              text={props.text}
              advisor={advisor}
              hold={isLive ? hold : undefined}
              onChoose={props.onChoose}
            />
          )}
          <Outcome {...props} />
          <Cut of={advisor} />
          <Tries board={props.board} advisor={advisor} canPick={props.canPick} />
        </div>
      </div>
      {isLive && !isAtEnd && (
        <button type="button" className="jump no-print" onClick={jump}>
          <Icon name="down" size={12} /> Jump to end
        </button>
      )}
    </div>
  );
}

/** In place of words that would lead somebody who has not answered yet. */
function Hidden({ board }: { board: string }) {
  const show = useShowAnyway(board);
  return (
    <div className="outcome no-print">
      <p className="aside-note">Hidden until you answer</p>
      <div className="row">
        <Button onClick={show}>Show anyway</Button>
      </div>
    </div>
  );
}

interface AnswerProps {
  text: GrowingText;
  advisor: Advisor;
  hold: Retrying | Waiting | undefined;
  onChoose: () => void;
}

function Answer({ text, advisor, hold, onChoose }: AnswerProps) {
  const shown = useText(text);
  const hasBegunAgain = useBegunAgain(text);
  const isLive = advisor.status === "answering";
  // The board's own copy is older; a second attempt may even have begun anew since.
  const whole = isLive && shown !== "" ? shown : advisor.text;
  const held = hold && (
    <>
      <p className="aside-note">{holdInWords(hold)}</p>
      <Button className="no-print" onClick={onChoose}>
        Ask another model
      </Button>
    </>
  );
  if (isRetrying(hold)) {
    return (
      <>
        {held}
        <BrokenOff attempt={hold.attempt} text={whole} />
      </>
    );
  }
  return (
    <>
      {isLive && hasBegunAgain && <p className="aside-note">{BEGUN_AGAIN}</p>}
      {held}
      {whole !== "" && <Markdown text={whole} live={isLive} under={2} />}
      {isLive && <BrokenOff attempt={text.attempt - 1} text={text.broken} />}
    </>
  );
}

/** What an attempt had written before it broke off. */
function BrokenOff({ attempt, text }: { attempt: number; text: string }) {
  if (text === "") return null;
  return (
    <section className="broken-off" aria-label={`Attempt ${attempt}`}>
      <h3>
        Attempt {attempt}, interrupted after {some(wordsIn(text), "word")}
      </h3>
      <Markdown text={text} under={3} />
    </section>
  );
}

function Thoughts({ reasoning, advisor }: { reasoning: GrowingText; advisor: Advisor }) {
  const shown = useText(reasoning);
  const kept = advisor.reasoning ?? "";
  const whole = advisor.status === "answering" && shown !== "" ? shown : kept;
  const [isOpen, setOpen] = useState(false);
  if (whole === "") return null;
  return (
    <details className="thoughts" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Thinking</summary>
      {/* What nobody looks at is not worked out. */}
      {isOpen && <Markdown text={whole} live={advisor.status === "answering"} under={2} />}
    </details>
  );
}

function Outcome({ advisor, isRetriable, isBusy, onRetry, onChoose }: BodyProps) {
  const again = isRetriable && (
    <div className="row no-print">
      <Button icon="retry" disabled={isBusy} onClick={onRetry}>
        Ask again
      </Button>
      {advisor.person === undefined && (
        <Button disabled={isBusy} onClick={onChoose}>
          Ask another model
        </Button>
      )}
    </div>
  );
  if (advisor.status === "failed" && advisor.error) {
    return (
      <div className="outcome">
        <Notice look="warn">
          <p>{failureInWords(advisor.error)}</p>
          <p className="small">{advisor.error.message}</p>
          {advisor.text !== "" && <p className="small">What it wrote is above.</p>}
        </Notice>
        {again}
      </div>
    );
  }
  if (advisor.status === "stopped") {
    return (
      <div className="outcome">
        <p className="aside-note">
          {advisor.text === "" ? "Stopped before writing anything." : "Stopped here."}
        </p>
        {again}
      </div>
    );
  }
  return null;
}

function holdInWords(hold: Retrying | Waiting): string {
  if (isRetrying(hold)) {
    return `Attempt ${hold.attempt} failed: ${hold.message}`;
  }
  return hold.place > 0 ? `The model is busy: number ${hold.place} in line.` : "The model is busy.";
}
