import { Link } from "wouter";
import { useSessions, pageOf } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { StatusBadge } from "../shell/status";
import { Empty, Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { ago, moment } from "../ui/time";
import { ConveneForm } from "./ConveneForm";

const RECENT = 20;

export default function Boardrooms() {
  useTitle("Boardroom");
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Put a question to a board</h1>
          <p className="muted">
            Several models answer at once, each from its own role; then one writes the verdict.
          </p>
        </div>
      </div>
      <ConveneForm autoFocus />
      <Recent />
    </div>
  );
}

function Recent() {
  const boards = useSessions({ kind: "boardroom", limit: RECENT });
  return (
    <section className="stack" aria-labelledby="recent-boards">
      <h2 id="recent-boards">Recent boards</h2>
      {boards.isPending && <Loading />}
      <Wrong error={boards.error} onRetry={() => void boards.refetch()} />
      {boards.data?.length === 0 && <Empty>No board has been convened yet.</Empty>}
      {boards.data && boards.data.length > 0 && (
        <ul className="list">
          {boards.data.map((session) => (
            <li key={session.id}>
              <Link href={pageOf(session)} className="list-row">
                <span className="title">{session.title}</span>
                <span className="spread row">
                  <StatusBadge status={session.status} />
                  <time
                    className="muted small"
                    dateTime={session.updatedAt}
                    title={moment(session.updatedAt)}
                  >
                    {ago(session.updatedAt)}
                  </time>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {boards.data?.length === RECENT && (
        <p>
          <Link href="/history">All sessions</Link>
        </p>
      )}
    </section>
  );
}
