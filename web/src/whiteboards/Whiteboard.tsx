// A board: its topic, its phase, its posts, and the map of its votes, live for everybody.

import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Problem } from "../api/client";
import type { Connection } from "../live/follow";
import { useLiveSession } from "../live/session";
import { SessionPage } from "../session/SessionPage";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { Tabs } from "../ui/Tabs";
import {
  BoardContext,
  cardId,
  useBoard,
  useConflicts,
  type BoardPage,
  type BoardView,
  type Post,
} from "./board";
import { Conflicts } from "./Conflicts";
import { Head, Outsider } from "./Head";
import { useIdentities, type Identities } from "./identity";
import { BoardMap } from "./BoardMap";
import { useMilestones } from "./milestones";
import { Move } from "./Move";
import { ALL_POSTS } from "./order";
import { Moves, People } from "./People";
import { Stepper } from "./Stepper";
import { Posts } from "./Posts";
import { DecisionRecord } from "./Record";
import "./whiteboards.css";

/** More than a board can have; whatever the server says, looking for a post ends. */
const PAGES_MOST = 200;

export default function Whiteboard({ board }: { board: string }) {
  const identities = useIdentities(board);
  // Each identity has a page of its own: nothing that one was shown is there for another.
  return <Seen key={identities.me?.name ?? ""} board={board} identities={identities} />;
}

function Seen({ board, identities }: { board: string; identities: Identities }) {
  const { me } = identities;
  const looking = useMemo(() => ({ board, me }), [board, me]);
  const query = useBoard(looking);
  const view = query.data?.pages[0];
  const isThere = view !== undefined;
  // Events and versions count what this viewer sees.
  const { connection } = useLiveSession({
    url: isThere ? `/api/whiteboards/${encodeURIComponent(board)}/events` : undefined,
    ...(view && { after: view.version }),
    keys: [["whiteboards", board]],
    ...(me && { agentToken: me.token }),
  });
  const posts = useMemo(() => unique(query.data?.pages ?? []), [query.data]);
  useMilestones(view, posts);

  const shown = { data: view, error: query.error, refetch: query.refetch };
  return (
    <SessionPage
      kind="whiteboard"
      query={shown}
      connection={connection}
      id={(board) => board.sessionId}
      title={(board) => board.topic}
      refused={(problem) => refused(problem, identities)}
    >
      {(view) => (
        <Loaded
          view={view}
          posts={posts}
          looking={looking}
          identities={identities}
          connection={connection}
          more={{
            isThere: query.hasNextPage,
            isLoading: query.isFetchingNextPage,
            load: () => void query.fetchNextPage(),
            loadAll: async () => {
              let hasMore = query.hasNextPage;
              for (let page = 1; hasMore && page < PAGES_MOST; page += 1) {
                const got = await query.fetchNextPage();
                hasMore = got.hasNextPage && !got.isError;
              }
            },
          }}
        />
      )}
    </SessionPage>
  );
}

/** Why somebody who has been on a board is not let in. */
function refused(problem: Problem, { me, forget }: Identities) {
  if (problem.code !== "not-your-agent" || !me) return undefined;
  return (
    <Notice look="warn" action={<Button onClick={() => forget(me.name)}>Forget {me.name}</Button>}>
      The server no longer knows this browser as {me.name}: its agent token was refused.
    </Notice>
  );
}

/** A post that moved to another page while they were loaded counts once. */
function unique(pages: readonly BoardView[]): Post[] {
  const byId = new Map(pages.flatMap((page) => page.posts).map((post) => [post.postId, post]));
  return [...byId.values()];
}

interface LoadedProps extends Pick<BoardPage, "view" | "posts" | "looking"> {
  identities: Identities;
  connection: Connection;
  more: {
    isThere: boolean;
    isLoading: boolean;
    load: () => void;
    loadAll: () => Promise<void>;
  };
}

function Loaded({ view, posts, looking, identities, connection, more }: LoadedProps) {
  const [choice, setChoice] = useState(ALL_POSTS);
  const [part, setPart] = useState<"posts" | "conflicts">("posts");
  const [isMoving, setMoving] = useState(false);
  const canSeeConflicts = view.allowed.includes("conflicts");
  const conflicts = useConflicts(looking, canSeeConflicts);
  const conflictCount = conflicts.data?.pages[0]?.meta?.total ?? 0;
  const latest = useRef(more);
  latest.current = more;

  const page = useMemo<BoardPage>(() => {
    const agents = new Map(view.agents.map((agent) => [agent.agentName, agent]));
    const show = (postId: string): boolean => {
      const card = document.getElementById(cardId(postId));
      card?.focus({ preventScroll: true });
      card?.scrollIntoView({ block: "center" });
      return card !== null;
    };
    return {
      looking,
      view,
      posts,
      can: (what) => view.allowed.includes(what),
      agentOf: (name) => agents.get(name),
      jump: (postId) => {
        flushSync(() => {
          setPart("posts");
          setChoice((now) => ({ ...ALL_POSTS, order: now.order }));
        });
        if (show(postId)) return;
        void latest.current.loadAll().then(() => requestAnimationFrame(() => show(postId)));
      },
    };
  }, [looking, view, posts]);

  const listed = <Posts choice={choice} onChoose={setChoice} more={more} />;
  return (
    <BoardContext value={page}>
      <div className="whiteboard">
        <Head identities={identities} connection={connection} />
        <Stepper onMove={() => setMoving(true)} />
        <nav className="jump-bar no-print" aria-label="Parts of this board">
          <a href="#posts">Posts</a>
          {view.phase !== "blind" && <a href="#map">Votes and summary</a>}
          <a href="#people">People</a>
        </nav>
        <div className="whiteboard-columns">
          <div className="whiteboard-main">
            <Outsider />
            {view.phase === "archived" && <DecisionRecord />}
            {canSeeConflicts ? (
              <Tabs
                label="Posts or conflicts"
                tabs={[
                  { name: "posts", title: `Posts ${view.postsTotal}` },
                  { name: "conflicts", title: `Conflicts ${conflictCount}` },
                ]}
                chosen={part}
                onChoose={setPart}
              >
                {part === "posts" ? listed : <Conflicts conflicts={conflicts} />}
              </Tabs>
            ) : (
              listed
            )}
          </div>
          <aside className="whiteboard-side" aria-label="Map and people">
            {view.phase !== "blind" && <BoardMap />}
            <People />
            <Moves />
          </aside>
        </div>
      </div>
      {isMoving && <Move onClose={() => setMoving(false)} />}
    </BoardContext>
  );
}
