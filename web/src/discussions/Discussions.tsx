import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import { asked, client, whole } from "../api/client";
import { pageOf, type Session } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { StatusBadge, statusOf } from "../shell/status";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import "./discussions.css";
import { doing } from "./words";

const STATUSES = ["draft", "active", "pausing", "paused", "stopped", "failed", "concluded"];
const PAGE = 30;
export const SAMPLE = "Should a team of five run its services as one program or as many?";

export default function Discussions() {
  useTitle("Discussions");
  const [words, setWords] = useState("");
  const [status, setStatus] = useState("");
  const q = useDeferredValue(words.trim());
  const list = useDiscussions(q, status);
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = q !== "" || status !== "";
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>Discussions</h1>
          <p className="muted">
            A facilitator leads the turns, and concludes when enough has been said.
          </p>
        </div>
        <Link href="/discussions/new" className="button primary">
          <Icon name="plus" />
          New discussion
        </Link>
      </header>
      {(isFiltered || rows.length > 0) && (
        <div className="list-filters" role="search" aria-label="Discussions">
          <TextField
            label="Search"
            labelUnseen
            type="search"
            placeholder="Search in topics and turns"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          <SelectField
            label="Status"
            labelUnseen
            value={status}
            onChange={(event) => setStatus(event.target.value)}
          >
            <option value="">Any status</option>
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {statusOf(one).word}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <Wrong error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Loading />}
      {rows.length > 0 && (
        <ul className="list" aria-label="Discussions">
          {rows.map((session) => (
            <li key={session.id}>
              <Row session={session} />
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <div>
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
      {list.isSuccess && rows.length === 0 && (isFiltered ? <NothingFound /> : <NothingYet />)}
    </div>
  );
}

function useDiscussions(q: string, status: string) {
  return useInfiniteQuery({
    queryKey: ["sessions", "discussions", q, status],
    queryFn: ({ pageParam }) => {
      const query = {
        limit: PAGE,
        ...(q !== "" && { q }),
        ...(status !== "" && { status }),
        ...(pageParam !== "" && { cursor: pageParam }),
      };
      return whole(client.GET("/api/discussions", { params: { query } }));
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.meta?.next ?? undefined,
    placeholderData: (before) => before,
  });
}

const UNDER_WAY = new Set(["active", "pausing", "paused", "stopped", "failed"]);

function Row({ session }: { session: Session }) {
  return (
    <Link href={pageOf(session)} className="list-row">
      <span className="list-main">
        <span className="title">{session.title}</span>
        {UNDER_WAY.has(session.status) && <Standing session={session} />}
      </span>
      <Age className="muted small when" at={session.updatedAt} />
      <StatusBadge status={session.status} />
    </Link>
  );
}

/** How far one is that is not over. Asked again when something has happened in it. */
function Standing({ session: { id, updatedAt } }: { session: Session }) {
  const view = useQuery({
    queryKey: ["discussions", id, "standing", updatedAt],
    queryFn: () => asked(client.GET("/api/discussions/{id}", { params: { path: { id } } })),
    placeholderData: (before) => before,
    gcTime: 0,
  }).data;
  if (!view) return null;
  const { step } = view;
  return (
    <span className="muted small">
      Round {view.round} of {view.maxRounds}
      {step?.waitsForPerson && ` · waits for ${step.name}`}
      {step &&
        !step.waitsForPerson &&
        view.status === "active" &&
        ` · ${step.name} ${doing(step.kind)}`}
      {` · ${some(view.participants.length, "participant")}`}
    </span>
  );
}

function NothingYet() {
  return (
    <Empty
      action={
        <div className="row">
          <Link href="/discussions/new" className="button primary">
            New discussion
          </Link>
          <Link
            href={`/discussions/new?topic=${encodeURIComponent(SAMPLE)}`}
            className="button quiet"
          >
            Try “{SAMPLE}”
          </Link>
        </div>
      }
    >
      Several voices take turns on a topic, and the facilitator writes the conclusion.
    </Empty>
  );
}

function NothingFound() {
  return <Empty>No discussions match.</Empty>;
}
