import "./councils.css";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import { asked, client, whole } from "../api/client";
import { useTitle } from "../shell/Shell";
import { pageOf, type Session } from "../shell/sessions";
import { StatusBadge } from "../shell/status";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { Face } from "./Face";
import { OpenCouncil } from "./OpenCouncil";
import { firstLine, opening } from "./entries";

const PAGE = 25;

export default function Councils() {
  useTitle("Councils");
  const [words, setWords] = useState("");
  const [status, setStatus] = useState("");
  const [isOpening, setOpening] = useState(false);
  const q = useDeferredValue(words.trim());
  const filter = { ...(q !== "" && { q }), ...(status !== "" && { status }) };
  const list = useInfiniteQuery({
    queryKey: ["sessions", "councils", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = {
        ...filter,
        limit: PAGE,
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return whole(client.GET("/api/councils", { params: { query } }));
    },
    getNextPageParam: (page) => page.meta?.next,
    placeholderData: (before) => before,
  });
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = q !== "" || status !== "";
  const open = (
    <Button look="primary" icon="plus" onClick={() => setOpening(true)}>
      Open a council
    </Button>
  );
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Councils</h1>
          <p className="muted">Long-lived threads with a charter, between people and models.</p>
        </div>
        {open}
      </div>
      {(rows.length > 0 || isFiltered) && (
        <div className="councils-filter" role="search">
          <TextField
            label="Search councils"
            labelUnseen
            type="search"
            placeholder="Search names, charters and posts"
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
            <option value="open">Open</option>
            <option value="closed">Closed</option>
          </SelectField>
        </div>
      )}
      <Wrong error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading councils" />}
      {rows.length > 0 && (
        <ul className="list card councils-list" aria-label="Councils">
          {rows.map((session) => (
            <CouncilRow key={session.id} session={session} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty action={isFiltered ? undefined : open}>
          {isFiltered
            ? "No councils match. Try fewer words."
            : "A council is a thread with a charter that stays open for as long as you need it. Its members answer when you name them."}
        </Empty>
      )}
      {isOpening && <OpenCouncil onClose={() => setOpening(false)} />}
    </div>
  );
}

const FACES_SHOWN = 5;

function CouncilRow({ session }: { session: Session }) {
  const name = session.name ?? session.id;
  const detail = useRow(name, session.updatedAt).data;
  const members = detail?.view.members ?? [];
  return (
    <li>
      <Link className="council-row" href={pageOf(session)}>
        <span className="row">
          <span className="title">{name}</span>
          {session.project !== undefined && <span className="badge">{session.project}</span>}
          <StatusBadge
            status={session.active ? "active" : session.status}
            kind="council"
            word={session.active ? "Answering" : undefined}
          />
        </span>
        <span className="members">
          {members.slice(0, FACES_SHOWN).map((member) => (
            <Face key={member.name} name={member.name} isModel={member.model !== undefined} small />
          ))}
          <span className="muted small">{detail && some(members.length, "member")}</span>
        </span>
        <span className="charter">{opening(detail?.view.charter ?? session.title)}</span>
        <Age className="when muted small number" at={session.updatedAt} />
        <span className="last">
          {detail?.last ? (
            <>
              {some(detail.view.last, "post")} · {detail.last.sender}: {firstLine(detail.last.body)}
            </>
          ) : (
            detail && "No posts yet"
          )}
        </span>
      </Link>
    </li>
  );
}

/** What a row of the list does not say: members, and the last post. */
function useRow(council: string, updatedAt: string) {
  return useQuery({
    queryKey: ["councils", council, "row", updatedAt],
    staleTime: Infinity,
    placeholderData: (before) => before,
    queryFn: async () => {
      const path = { council };
      const view = await asked(client.GET("/api/councils/{council}", { params: { path } }));
      if (view.last === 0) return { view, last: undefined };
      const query = { since: view.last - 1, limit: 1 };
      const page = await asked(
        client.GET("/api/councils/{council}/posts", { params: { path, query } }),
      );
      return { view, last: page.posts[0] };
    },
  });
}
