import "./history.css";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { RemoveSessions } from "../session/RemoveSessions";
import { chosenAfter } from "../session/several";
import { useAsked } from "../shell/search";
import type { Session } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { useSettled } from "../ui/settled";
import { useShortcuts } from "../ui/shortcuts";
import { money } from "../ui/money";
import { count as short, some } from "../ui/time";
import { Filters } from "./Filters";
import { address, EVERYTHING, filterOf, isNarrowed, read } from "./filter";
import { ImportRecord } from "./ImportRecord";
import { Rows } from "./Rows";
import { Selection } from "./Selection";
import { useFound } from "../session/SessionList";

const TYPING_MS = 250;
const PAGE = 40;
/** All of them, unless somebody pins everything. */
const PINNED = 100;

export default function History() {
  useTitle("History");
  const { looked, typed, setTyped, look } = useLooked();
  const filter = filterOf(looked);
  const pinned = useFound({ ...filter, pinned: true }, PINNED);
  const found = useFound({ ...filter, pinned: false }, PAGE);
  const isKnown = pinned.total !== undefined && found.total !== undefined;
  const total = isKnown ? (pinned.total ?? 0) + (found.total ?? 0) : undefined;
  const page = useRef<HTMLDivElement>(null);
  const rows = [...pinned.rows, ...found.rows];
  const count = rows.length;
  const links = () => [...(page.current?.querySelectorAll<HTMLElement>(".session-row") ?? [])];
  const focusSearch = () => page.current?.querySelector<HTMLElement>("input[type=search]")?.focus();
  const focusRow = (at: number) => {
    const all = links();
    if (all.length === 0) focusSearch();
    else all[Math.max(0, Math.min(all.length - 1, at))]?.focus();
  };
  const focused = () =>
    links().findIndex((row) => row.closest("li")?.contains(document.activeElement));
  const { chosen, setChosen, choose } = useChosen(rows);
  const removal = useRemoval(rows, focusRow);
  const shared = {
    words: looked.q,
    chosen: new Set(chosen.map(({ id }) => id)),
    onChoose: choose,
    onRemove: (session: Session) => removal.ask([session]),
  };
  useShortcuts([
    { key: "/", label: "Search sessions", run: focusSearch },
    { key: "j", label: "Next session", run: () => focusRow(focused() + 1) },
    { key: "k", label: "Previous session", run: () => focusRow(focused() - 1) },
    {
      key: "x",
      label: "Select the session",
      run: () => {
        const row = rows[focused()];
        if (row) choose(row.id, false);
      },
    },
    ...(chosen.length > 0
      ? [{ key: "Escape", label: "Clear the selection", run: () => setChosen([]) }]
      : []),
  ]);

  const goOnAt = useRef<number>(undefined);
  useEffect(() => {
    // The button may be gone; the reader goes on where the new rows begin.
    const at = goOnAt.current;
    if (at === undefined || at >= count) return;
    goOnAt.current = undefined;
    focusRow(at);
  }, [count]);
  const loadMore = () => {
    goOnAt.current = count;
    found.more();
  };

  return (
    <div className="page history" ref={page}>
      <div className="page-head">
        <h1>History</h1>
        <ImportRecord />
      </div>
      <Filters looked={looked} typed={typed} onType={setTyped} onLook={look} />
      <div className="muted small history-count">
        <span role="status">{total !== undefined && words(total, isNarrowed(looked))}</span>
        <span className="number">{spent(rows)}</span>
      </div>
      <Wrong error={found.error ?? pinned.error} onRetry={found.retry} />
      {found.isLoading && <Loading />}
      {pinned.rows.length > 0 && <h2 className="eyebrow history-pinned">Pinned</h2>}
      <Rows label="Pinned sessions" rows={pinned.rows} isStale={pinned.isStale} {...shared} />
      {pinned.rows.length > 0 && found.rows.length > 0 && (
        <h2 className="eyebrow history-pinned">Everything else</h2>
      )}
      <Rows label="Sessions" rows={found.rows} isStale={found.isStale} {...shared} />
      {total === 0 && !isNarrowed(looked) && (
        <Empty
          action={
            <Link href="/" className="button primary">
              Ask a board
            </Link>
          }
        >
          Every session is kept here.
        </Empty>
      )}
      {total === 0 && isNarrowed(looked) && (
        <Empty
          action={
            <Button
              onClick={() => {
                setTyped("");
                look(EVERYTHING);
              }}
            >
              Show everything
            </Button>
          }
        >
          Nothing matches. A session must contain every word; the last may be incomplete.
        </Empty>
      )}
      {found.hasMore && (
        <Button className="load-more" disabled={found.isLoadingMore} onClick={loadMore}>
          {found.isLoadingMore ? "Loading…" : "Load more"}
        </Button>
      )}
      {chosen.length > 0 && (
        <Selection sessions={chosen} onChoose={setChosen} onRemove={() => removal.ask(chosen)} />
      )}
      {removal.dialog}
    </div>
  );
}

function words(total: number, narrowed: boolean): string {
  if (total === 0) return narrowed ? "Nothing found" : "Nothing here yet";
  return narrowed ? `${some(total, "session")} found` : some(total, "session");
}

/** What the sessions that are listed took together. */
function spent(rows: readonly Session[]): string {
  const facts = rows.flatMap(({ facts: one }) => (one ? [one] : []));
  const tokens = facts.reduce((sum, one) => sum + (one.tokens ?? 0), 0);
  const costs = new Map<string | undefined, number>();
  for (const { cost, currency } of facts) {
    if (cost !== undefined) costs.set(currency, (costs.get(currency) ?? 0) + cost);
  }
  const amounts = [...costs].map(([currency, cost]) => money(cost, currency));
  return tokens === 0 ? "" : `Listed here: ${[`${short(tokens)} tokens`, ...amounts].join(", ")}`;
}

/** Which sessions are chosen; one that is not on the page any more is none of them. */
function useChosen(rows: readonly Session[]) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  return {
    chosen: rows.filter(({ id }) => marked.has(id)),
    setChosen: (sessions: readonly Session[]) => setMarked(new Set(sessions.map(({ id }) => id))),
    choose: (id: string, isRange: boolean) => {
      const order = rows.map((row) => row.id);
      const from = isRange ? last.current : undefined;
      last.current = id;
      setMarked((now) => chosenAfter(now, order, id, from));
    },
  };
}

/** Asks before sessions are removed. The focus goes to whatever came in their place. */
function useRemoval(rows: readonly Session[], focusRow: (at: number) => void) {
  const [ids, setIds] = useState<readonly string[]>([]);
  const sessions = rows.filter(({ id }) => ids.includes(id));
  const at = useRef<number>(undefined);
  useEffect(() => {
    if (at.current === undefined || ids.length > 0) return;
    focusRow(at.current);
    at.current = undefined;
  });
  return {
    ask: (asked: readonly Session[]) => setIds(asked.map(({ id }) => id)),
    dialog: sessions.length > 0 && (
      <RemoveSessions
        sessions={sessions}
        onClose={() => setIds([])}
        onRemoved={() => (at.current = rows.findIndex(({ id }) => ids.includes(id)))}
      />
    ),
  };
}

/** What is looked for stands in the address; what is being typed gets there when the typing pauses. */
function useLooked() {
  const [, go] = useLocation();
  const looked = read(useAsked());
  const [typed, setTyped] = useState(looked.q);
  const written = useRef(looked.q);
  const settled = useSettled(typed, TYPING_MS);
  const latest = useRef(looked);
  latest.current = looked;

  const look = (change: Partial<typeof looked>) => {
    const next = { ...latest.current, ...change };
    written.current = next.q;
    go(address(next), { replace: true });
  };
  useEffect(() => {
    // The address was changed by a link or by going back, not by the typing.
    if (looked.q === written.current) return;
    written.current = looked.q;
    setTyped(looked.q);
  }, [looked.q]);
  useEffect(() => {
    if (settled.trim() !== written.current) look({ q: settled.trim() });
    // Only a pause in the typing moves the address.
  }, [settled]);
  return { looked, typed, setTyped, look };
}
