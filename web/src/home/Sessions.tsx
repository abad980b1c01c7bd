import { useId, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { SessionRow } from "../shell/SessionRow";
import type { Session } from "../shell/sessions";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";

interface Props {
  waiting: readonly Session[];
  running: readonly Session[];
  recent: readonly Session[];
}

/** What waits for somebody, what runs, what was lately; and a way to all of it. */
export function Sessions({ waiting, running, recent }: Props) {
  return (
    <div className="home-sessions">
      <Group title="Waiting for you" sessions={waiting} isAwaited />
      <Group title="Running now" sessions={running} />
      <Group title="Recent" sessions={recent} foot={<Link href="/history">All sessions</Link>} />
      <Search />
    </div>
  );
}

interface GroupProps {
  title: string;
  sessions: readonly Session[];
  foot?: ReactNode;
  /** Each leads to where somebody is to act. */
  isAwaited?: boolean;
}

function Group({ title, sessions, foot, isAwaited = false }: GroupProps) {
  const heading = useId();
  if (sessions.length === 0) return null;
  return (
    <section aria-labelledby={heading}>
      <div className="home-group-head">
        <h2 id={heading}>
          {title} {isAwaited && <span className="count">{sessions.length}</span>}
        </h2>
        {foot}
      </div>
      <ul className={isAwaited ? "list card awaited" : "list"}>
        {sessions.map((session) => (
          <li key={session.id}>
            <SessionRow session={session} isAwaited={isAwaited} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Search() {
  const [, go] = useLocation();
  const [words, setWords] = useState("");
  return (
    <form
      role="search"
      className="home-search"
      onSubmit={(event) => {
        event.preventDefault();
        const search = words.trim() === "" ? "" : `?${new URLSearchParams({ q: words.trim() })}`;
        go(`/history${search}`);
      }}
    >
      <TextField
        label="Search all sessions"
        labelUnseen
        type="search"
        placeholder="Search everything asked and said"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <Button type="submit" icon="search">
        Search
      </Button>
    </form>
  );
}
