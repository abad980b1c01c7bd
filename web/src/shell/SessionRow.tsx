import { Link } from "wouter";
import { Icon, isIcon } from "../ui/icons";
import { ago, moment } from "../ui/time";
import { kindName, pageOf, waitsFor, type Session } from "./sessions";
import { StatusBadge } from "./status";

/** One session in a list: what it is, where it stands, how old it is. */
export function SessionRow({ session, now }: { session: Session; now: number }) {
  const kind = kindName(session.kind);
  const about = [session.name, session.project].filter(Boolean).join(" · ");
  return (
    <Link href={pageOf(session)} className="list-row session-row" data-session={session.id}>
      <span className="glyph small" title={kind}>
        <Icon name={isIcon(session.kind) ? session.kind : "file"} />
        <span className="unseen">{kind}: </span>
      </span>
      <span className="session-words">
        <span className="title">{session.title}</span>
        {about !== "" && <span className="project">{about}</span>}
      </span>
      {session.imported && <span className="badge">Imported</span>}
      <SessionBadge session={session} />
      <time className="age number" dateTime={session.updatedAt} title={moment(session.updatedAt)}>
        {ago(session.updatedAt, now)}
      </time>
    </Link>
  );
}

/** Whom it waits for says more than its status. */
function SessionBadge({ session }: { session: Session }) {
  const names = waitsFor(session);
  if (names.length === 0) return <StatusBadge status={session.status} />;
  return (
    <span className="badge warn" data-status={session.status}>
      <Icon name="person" size={12} />
      Waits for {names.join(", ")}
    </span>
  );
}
