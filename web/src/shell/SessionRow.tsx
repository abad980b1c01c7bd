import { Link } from "wouter";
import { Age } from "../ui/Age";
import { kindIcon, kindName, pageOf } from "../session/kinds";
import { Icon } from "../ui/icons";
import { waitsFor, type Session } from "./sessions";
import { StatusBadge } from "./status";

interface Props {
  session: Session;
  /** It leads to where somebody is to act. */
  isAwaited?: boolean;
}

/** One session in a list: what it is, where it stands, how old it is. */
export function SessionRow({ session, isAwaited = false }: Props) {
  const acts = isAwaited && session.kind === "workflow" ? "/decide" : "";
  const kind = kindName(session.kind);
  const about = [session.name, session.project].filter(Boolean).join(" · ");
  return (
    <Link
      href={`${pageOf(session)}${acts}`}
      className="list-row session-row"
      data-session={session.id}
    >
      <span className="glyph small" title={kind}>
        <Icon name={kindIcon(session.kind)} />
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
