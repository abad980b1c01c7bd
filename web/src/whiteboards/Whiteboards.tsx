// All whiteboards: find one, or open one.

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import { asked, client, whole } from "../api/client";
import { pageOf, type Session } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { StatusBadge } from "../shell/status";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { knownIdentities } from "./identity";
import { OpenBoard } from "./OpenBoard";
import { PHASES, phaseName, type Phase } from "./phases";
import "./whiteboards.css";

const ROWS = 30;
const SAMPLE = "Should we use mkdocs or mdBook for our documentation?";

export default function Whiteboards() {
  useTitle("Whiteboards");
  const [opening, setOpening] = useState<string>();
  const [search, setSearch] = useState("");
  const [phase, setPhase] = useState<Phase | "">("");
  const q = useDeferredValue(search.trim());
  const boards = useInfiniteQuery({
    queryKey: ["sessions", "whiteboards", { q, phase }],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) =>
      whole(
        client.GET("/api/whiteboards", {
          params: {
            query: {
              limit: ROWS,
              cursor: pageParam,
              ...(q !== "" && { q }),
              ...(phase !== "" && { status: phase }),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.meta?.next,
  });
  const rows = boards.data?.pages.flatMap((page) => page.data) ?? [];
  const total = boards.data?.pages[0]?.meta?.total ?? rows.length;
  const isFiltered = q !== "" || phase !== "";

  return (
    <div className="page whiteboards">
      <div className="page-head">
        <div>
          <h1>Whiteboards</h1>
          <p className="muted">
            Independent views first, then checking, debate and votes: a decision with its record.
          </p>
        </div>
        <Button look="primary" icon="plus" onClick={() => setOpening("")}>
          Open a whiteboard
        </Button>
      </div>
      {(rows.length > 0 || isFiltered) && (
        <div className="board-search" role="search">
          <TextField
            label="Search whiteboards"
            labelUnseen
            type="search"
            placeholder="Search topics and posts"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
          <SelectField
            label="Phase"
            labelUnseen
            value={phase}
            onChange={(event) => setPhase(event.target.value as Phase | "")}
          >
            <option value="">Any phase</option>
            {PHASES.map((one) => (
              <option key={one} value={one}>
                {phaseName(one)}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <Wrong error={boards.error} onRetry={() => void boards.refetch()} />
      {boards.isPending && <Loading />}
      {boards.data && rows.length === 0 && isFiltered && (
        <Empty
          action={
            <Button
              onClick={() => {
                setSearch("");
                setPhase("");
              }}
            >
              Show all whiteboards
            </Button>
          }
        >
          No whiteboard matches.
        </Empty>
      )}
      {boards.data && rows.length === 0 && !isFiltered && (
        <Empty
          action={
            <div className="row">
              <Button look="primary" icon="plus" onClick={() => setOpening("")}>
                Open a whiteboard
              </Button>
              <Button look="quiet" onClick={() => setOpening(SAMPLE)}>
                Try “{SAMPLE}”
              </Button>
            </div>
          }
        >
          On a whiteboard people and agents write down what they think before they see each other,
          and then come to a decision.
        </Empty>
      )}
      {rows.length > 0 && (
        <section aria-label="Whiteboards">
          <p className="muted small board-count">{some(total, "whiteboard")}</p>
          <ul className="list card board-list">
            {rows.map((row) => (
              <li key={row.id}>
                <Row board={row} />
              </li>
            ))}
          </ul>
          {boards.hasNextPage && (
            <Button
              disabled={boards.isFetchingNextPage}
              onClick={() => void boards.fetchNextPage()}
            >
              Load more
            </Button>
          )}
        </section>
      )}
      {opening !== undefined && <OpenBoard topic={opening} onClose={() => setOpening(undefined)} />}
    </div>
  );
}

function Row({ board }: { board: Session }) {
  const name = board.name ?? board.id;
  const opener = useOpener(name);
  const mine = knownIdentities(name).map((one) => one.name);
  return (
    <Link href={pageOf(board)} className="list-row">
      <span className="board-row">
        <span className="title">{board.title}</span>
        <span className="muted small board-facts">
          <span className="mono">{name}</span>
          {board.project && <span>{board.project}</span>}
          {opener && <span>opened by {opener}</span>}
          <Age at={board.createdAt} />
          {mine.length > 0 && <span className="mine">you are {mine.join(", ")} here</span>}
        </span>
      </span>
      <StatusBadge status={board.status} />
    </Link>
  );
}

/** Lists do not say who opened a board; it never changes, so it is asked once. */
function useOpener(board: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["whiteboard-openers", board],
    staleTime: Infinity,
    queryFn: () =>
      asked(
        client.GET("/api/whiteboards/{board}", {
          params: { path: { board }, query: { limit: 1 } },
        }),
      ).then((view) => view.openedBy),
  });
  return data;
}
