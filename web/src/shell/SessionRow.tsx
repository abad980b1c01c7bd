import { Link } from "wouter";
import { Age } from "../ui/Age";
import { Icon, isIcon } from "../ui/icons";
import { kindName, pageOf, waitsFor, type Session } from "./sessions";
import { StatusBadge } from "./status";

/** One session in a list: what it is, where it stands, how old it is. */
export function SessionRow({ session }: { session: Session }) {
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
      <Age className="age number" at={session.updatedAt} />
    </Link>
  );
}

/** Whom it waits for says more than its status. */
function SessionBadge({ session }: { session: Session }) {
  const names = waitsFor(session);
  if (names.length === 0) return <StatusBadge status={session.status} kind={session.kind} />;
  return (
    <span className="badge warn" data-status={session.status}>
      <Icon name="person" size={12} />
      Waits for {names.join(", ")}
    </span>
  );
}
