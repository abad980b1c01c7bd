// The page of all sessions of a kind: find one, or begin one.

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { client, whole } from "../api/client";
import type { Session } from "../shell/sessions";
import { StatusBadge, statusOf } from "../shell/status";
import { useTitle } from "../shell/title";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { useSettled } from "../ui/settled";
import { some } from "../ui/time";
import { kindOf, pageOf } from "./kinds";

const PAGE = 30;
const TYPING_MS = 200;

export type Filter = Partial<Record<"q" | "kind" | "status", string>> & {
  active?: boolean;
  waiting?: boolean;
  pinned?: boolean;
};

/** Sessions that match, newest first, page by page. */
export function useFound(filter: Filter, limit = PAGE) {
  const query = useInfiniteQuery({
    queryKey: ["sessions", "found", filter, limit],
    queryFn: ({ pageParam: cursor, signal }) =>
      whole(
        client.GET("/api/sessions", {
          params: {
            query: { ...filter, facts: true, limit, ...(cursor !== undefined && { cursor }) },
          },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.meta?.next,
    placeholderData: keepPreviousData,
  });
  const pages = query.data?.pages ?? [];
  return {
    rows: pages.flatMap((page) => page.data),
    total: pages[0]?.meta?.total,
    error: query.error,
    isLoading: query.isLoading,
    /** Shows what matched before, until what matches now is there. */
    isStale: query.isPlaceholderData,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  };
}

interface Props {
  kind: string;
  /** What such a session is. */
  lead: string;
  /** What a session of this kind goes by in its search. */
  searches: string;
  /** What its statuses are called together. */
  statuses?: string;
  action: ReactNode;
  /** Where there is none yet. */
  empty: { words: string; action: ReactNode };
  about: (session: Session) => ReactNode;
  children?: ReactNode;
}

export function SessionList(props: Props) {
  const { kind, statuses = "status" } = props;
  const { plural, statuses: known } = kindOf(kind) ?? { plural: kind, statuses: [] };
  useTitle(plural);
  const [words, setWords] = useState("");
  const [status, setStatus] = useState("");
  const q = useSettled(words.trim(), TYPING_MS);
  const isFiltered = q !== "" || status !== "";
  const found = useFound({ kind, ...(q !== "" && { q }), ...(status !== "" && { status }) });
  const { rows, total } = found;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{plural}</h1>
          <p className="muted">{props.lead}</p>
        </div>
        {props.action}
      </header>
      {(isFiltered || rows.length > 0) && (
        <div className="list-filters" role="search" aria-label={plural}>
          <TextField
            label={`Search ${plural.toLowerCase()}`}
            labelUnseen
            type="search"
            placeholder={`Search ${props.searches}`}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          <SelectField
            label={statuses.charAt(0).toUpperCase() + statuses.slice(1)}
            labelUnseen
            value={status}
            onChange={(event) => setStatus(event.target.value)}
            none={`Any ${statuses}`}
            options={known.map((one) => [one, statusOf(one, kind).word])}
          />
        </div>
      )}
      <Wrong error={found.error} onRetry={found.retry} />
      {found.isLoading && <Loading what={`Loading ${plural.toLowerCase()}`} />}
      {rows.length > 0 && (
        <section aria-label={plural} className="stack">
          <p className="muted small">{total !== undefined && some(total, kind)}</p>
          <ul className="list card session-list" aria-label={plural} aria-busy={found.isStale}>
            {rows.map((session) => (
              <li key={session.id}>
                <Row session={session} about={props.about(session)} />
              </li>
            ))}
          </ul>
          {found.hasMore && (
            <Button className="load-more" disabled={found.isLoadingMore} onClick={found.more}>
              {found.isLoadingMore ? "Loading…" : "Load more"}
            </Button>
          )}
        </section>
      )}
      {total === 0 &&
        (isFiltered ? (
          <Empty
            action={
              <Button
                onClick={() => {
                  setWords("");
                  setStatus("");
                }}
              >
                Show all {plural.toLowerCase()}
              </Button>
            }
          >
            No {plural.toLowerCase()} match.
          </Empty>
        ) : (
          <Empty action={props.empty.action}>{props.empty.words}</Empty>
        ))}
      {props.children}
    </div>
  );
}

function Row({ session, about }: { session: Session; about: ReactNode }) {
  const isAnswering = session.kind === "council" && session.active;
  return (
    <Link href={pageOf(session)} className="list-row">
      <span className="list-main">
        <span className="title">{session.title}</span>
        <span className="muted small list-facts">{about}</span>
      </span>
      <StatusBadge
        status={isAnswering ? "active" : session.status}
        kind={session.kind}
        word={isAnswering ? "Answering" : undefined}
      />
      <Age className="muted small number when" at={session.updatedAt} />
    </Link>
  );
}
