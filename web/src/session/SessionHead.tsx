// One header for every session: kind over title, then how it stands, how long there was work,
// what it took, then what can be done.

import { useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import type { Connection } from "../live/follow";
import { StatusBadge } from "../shell/status";
import { Icon } from "../ui/icons";
import { asExports, Menu, type MenuItem } from "../ui/Menu";
import { useNarrow } from "../ui/narrow";
import { duration } from "../ui/time";
import { totalsOf, type Took } from "../ui/Totals";
import { RemoveSession } from "./Confirm";
import { exportOf, fileName, kindName, listOf } from "./kinds";

interface Props {
  session: { id: string; kind: string; name?: string | undefined; title: string };
  /** After the kind, over the title. */
  about?: ReactNode;
  /** In place of the title as plain text. */
  heading?: ReactNode;
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
  const { session, about, heading, status, word, waits, connection, workedMs, took } = props;
  const [isRemoving, setRemoving] = useState(false);
  const isNarrow = useNarrow();
  const [, go] = useLocation();
  const name = fileName(session.title, session.kind);
  const exports: MenuItem[] = [
    ...(props.exports ?? [
      { label: "Markdown", icon: "file", href: exportOf(session), download: `${name}.md` },
      { label: "JSON", icon: "file", href: exportOf(session, "json"), download: `${name}.json` },
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
        {heading ?? <h1>{session.title}</h1>}
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
            { label: "Remove…", icon: "trash", run: () => setRemoving(true) },
          ]}
        />
      </div>
      {isRemoving && (
        <RemoveSession
          session={session}
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
