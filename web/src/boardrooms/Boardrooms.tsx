import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useAsked } from "../shell/search";
import { SessionRow } from "../shell/SessionRow";
import { useSessions } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { Empty, Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { useBegunAgain } from "./again";
import { ConveneForm } from "./ConveneForm";

const RECENT = 20;

export default function Boardrooms() {
  useTitle("Boardroom");
  const given = useGiven();
  const again = useBegunAgain();
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
      <ConveneForm
        prompt={again?.prompt ?? given.get("prompt") ?? undefined}
        board={given.get("board") ?? undefined}
        again={again}
        autoFocus
      />
      <Recent />
    </div>
  );
}

/** Home and the library send a question or a board along; the address is for once. */
function useGiven(): URLSearchParams {
  const [, go] = useLocation();
  const asked = useAsked();
  const [given] = useState(asked);
  useEffect(() => {
    if (asked.size > 0) go("/boardrooms", { replace: true });
  }, [asked, go]);
  return given;
}

function Recent() {
  const boards = useSessions({ kind: "boardroom", limit: RECENT });
  return (
    <section className="stack" aria-labelledby="recent-boards">
      <h2 id="recent-boards">Recent boards</h2>
      {boards.isPending && <Loading />}
      <Wrong error={boards.error} onRetry={() => void boards.refetch()} />
      {boards.data?.length === 0 && <Empty>No boards yet.</Empty>}
      {boards.data && boards.data.length > 0 && (
        <ul className="list">
          {boards.data.map((session) => (
            <li key={session.id}>
              <SessionRow session={session} />
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
