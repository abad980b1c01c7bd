import { Link } from "wouter";
import { Age } from "../ui/Age";
import { kindIcon, kindName, pageOf } from "../session/kinds";
import { Icon } from "../ui/icons";
import { Marked } from "../ui/Marked";
import { money } from "../ui/money";
import { awaitedPage, waitsFor, type Session } from "./sessions";
import { StatusBadge } from "./status";

interface Props {
  session: Session;
  /** It leads to where somebody is to act. */
  isAwaited?: boolean;
  /** What was searched for, to be marked where it was found. */
  words?: string;
}

/** One session in a list: what it is, where it stands, how old it is. */
export function SessionRow({ session, isAwaited = false, words = "" }: Props) {
  const kind = kindName(session.kind);
  const about = [session.name, session.project].filter(Boolean).join(" · ");
  const { result, found, cost, currency } = session.facts ?? {};
  return (
    <Link
      href={isAwaited ? awaitedPage(session) : pageOf(session)}
      className="list-row session-row"
      data-session={session.id}
    >
      <span className="glyph small" title={kind}>
        <Icon name={kindIcon(session.kind)} />
        <span className="unseen">{kind}: </span>
      </span>
      <span className="session-words">
        <span className="title">
          <Marked text={session.title} words={words} />
        </span>
        {result !== undefined && <span className="session-result">{result}</span>}
        {found !== undefined && found !== result && (
          <span className="session-found">
            <Marked text={found} words={words} />
          </span>
        )}
        {about !== "" && <span className="project">{about}</span>}
      </span>
      {session.imported && <span className="badge">Imported</span>}
      <SessionBadge session={session} />
      <span className="session-when number">
        <Age className="age" at={session.updatedAt} />
        {cost !== undefined && cost > 0 && <span className="age">{money(cost, currency)}</span>}
      </span>
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
      Waiting for {names.join(", ")}
    </span>
  );
}
