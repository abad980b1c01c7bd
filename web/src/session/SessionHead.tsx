// One header for every session: kind over title, then how it stands, how long there was work,
// what it took, then what can be done.

import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import type { Connection } from "../live/follow";
import { StatusBadge } from "../shell/status";
import { Icon } from "../ui/icons";
import { asExports, Menu, type MenuItem } from "../ui/Menu";
import { useNarrow } from "../ui/narrow";
import { duration } from "../ui/time";
import { totalsOf, type Took } from "../ui/Totals";
import { ChangeBudget } from "./ChangeBudget";
import { exportOf, kindName, listOf } from "./kinds";
import { useLabel, useLabelling } from "./label";
import { RemoveSessions } from "./RemoveSessions";

interface Props {
  session: { id: string; kind: string; name?: string | undefined; title: string };
  /** After the kind, over the title. */
  about?: ReactNode;
  /** What it is about, in place of its title. */
  question?: string;
  status: string;
  /** Says more than the status does. */
  word?: string | undefined;
  /** Somebody is awaited. */
  waits?: boolean;
  imported?: boolean | undefined;
  connection?: Connection | undefined;
  /** How long there was work. */
  workedMs?: number | undefined;
  took?: Took | undefined;
  /** Beside the status. */
  children?: ReactNode;
  actions?: ReactNode;
  /** In the menu, before what every session has there. */
  more?: MenuItem[];
  /** In place of files that a link can lead to. */
  exports?: MenuItem[];
  onPrint?: () => void;
  onRemoved?: () => void;
}

export function SessionHead(props: Props) {
  const { session, about, status, word, waits, connection, workedMs, took } = props;
  const [isRemoving, setRemoving] = useState(false);
  const [isBudgeting, setBudgeting] = useState(false);
  const isNarrow = useNarrow();
  const [, go] = useLocation();
  const label = useLabel(session.id);
  const given = label?.renamed ? label.title : undefined;
  const title = given ?? session.title;
  const labelling = useLabelling({ id: session.id, title, pinned: label?.pinned });
  const exports: MenuItem[] = [
    ...(props.exports ?? [
      { label: "Markdown", icon: "file", href: exportOf(session) },
      { label: "JSON", icon: "file", href: exportOf(session, "json") },
    ]),
    { label: "Print", icon: "print", run: props.onPrint ?? (() => window.print()) },
  ];
  return (
    <header className="session-head" data-session={session.id}>
      <div className="session-title">
        <p className="eyebrow">
          <Link href={listOf(session.kind)}>{kindName(session.kind)}</Link>
          {about !== undefined && <> · {about}</>}
        </p>
        {given !== undefined && <h1>{given}</h1>}
        <Question text={props.question ?? session.title} isBeneath={given !== undefined} />
      </div>
      <dl className="session-facts">
        <Fact label="Status">
          {connection === "broken" ? (
            <span className="badge warn" role="status">
              <span className="dot waits live" />
              Reconnecting
            </span>
          ) : (
            <StatusBadge
              status={status}
              kind={session.kind}
              word={word}
              {...(waits && { look: "warn" as const })}
            />
          )}
          {props.imported && (
            <span className="badge" title="Imported: not verified by this server.">
              Imported
            </span>
          )}
          {props.children}
        </Fact>
        {workedMs !== undefined && (
          <Fact label="Worked">{duration(workedMs).replace(/\.\d/, "")}</Fact>
        )}
        {took &&
          totalsOf(took).map(({ label, value, title }) => (
            <Fact key={label} label={label} title={title}>
              {value}
            </Fact>
          ))}
      </dl>
      <div className="session-actions no-print">
        {props.actions}
        {!isNarrow && <Menu label="Export" icon="download" items={exports} />}
        <Menu
          label="More"
          face={<Icon name="more" />}
          className="button square"
          items={[
            ...(props.more ?? []),
            ...(isNarrow ? asExports(exports) : []),
            ...(took && takesBudget(session.kind, status) && !props.imported
              ? [
                  {
                    label: took.budget ? "Change budget…" : "Set a budget…",
                    icon: "settings" as const,
                    run: () => setBudgeting(true),
                  },
                ]
              : []),
            ...labelling.items,
            { label: "Remove…", icon: "trash", run: () => setRemoving(true) },
          ]}
        />
      </div>
      {labelling.dialog}
      {isBudgeting && (
        <ChangeBudget session={session} budget={took?.budget} onClose={() => setBudgeting(false)} />
      )}
      {isRemoving && (
        <RemoveSessions
          sessions={[{ ...session, title }]}
          onClose={() => setRemoving(false)}
          onRemoved={() => {
            props.onRemoved?.();
            go(listOf(session.kind));
          }}
        />
      )}
    </header>
  );
}

/** Of a board or a discussion that is done more can be asked; of the others nothing. */
function takesBudget(kind: string, status: string): boolean {
  const isOver = (kind === "council" && status === "closed") || status === "archived";
  return kind !== "workflow" && !isOver;
}

const LONG = 160;

interface QuestionProps {
  text: string;
  /** Beneath a title that somebody gave. */
  isBeneath: boolean;
}

/** What it is about, a few lines of it unless all is asked for. */
function Question({ text, isBeneath }: QuestionProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [isCut, setCut] = useState(false);
  const [isWhole, setWhole] = useState(false);
  useLayoutEffect(() => {
    const element = heading.current;
    if (!element || isWhole) return undefined;
    const look = () => setCut(element.scrollHeight > element.clientHeight + 2);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, [text, isWhole, isBeneath]);
  const Tag = isBeneath ? "p" : "h1";
  return (
    <div className="session-about">
      <Tag
        ref={heading}
        className={[text.length > LONG ? "long" : "", isWhole ? "whole" : ""].join(" ")}
        tabIndex={isWhole ? 0 : undefined}
      >
        {text}
      </Tag>
      {(isCut || isWhole) && (
        <button
          type="button"
          className="show-all no-print"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </button>
      )}
    </div>
  );
}

interface FactProps {
  label: string;
  title?: string | undefined;
  children: ReactNode;
}

function Fact({ label, title, children }: FactProps) {
  return (
    <div title={title} data-label={label}>
      <dt>{label}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}
