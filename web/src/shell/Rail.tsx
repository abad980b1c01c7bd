import { useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { Icon, Mark } from "../ui/icons";
import { ariaKey, Key } from "../ui/keys";
import { isUnder, PLACES } from "./places";
import { kindIcon, kindName, pageOf } from "../session/kinds";
import { useGoingOn, waitsFor, type Session } from "./sessions";

interface Props {
  onSearch: () => void;
  onHelp: () => void;
}

export function Rail({ onSearch, onHelp }: Props) {
  const [here] = useLocation();
  const { waiting, running } = useGoingOn();
  const kinds = new Set(running.map((session) => session.kind));
  const places = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const row = places.current;
    if (!row) return;
    showCurrent(row);
    // A font that comes later moves everything.
    void document.fonts.ready.then(() => showCurrent(row));
  }, [here]);

  return (
    <nav className="rail no-print" aria-label="Main">
      <div className="rail-head">
        <Link href="/" className="mark" aria-label="Plenary">
          <Mark />
        </Link>
        <button
          type="button"
          className="rail-search"
          aria-haspopup="dialog"
          aria-keyshortcuts={ariaKey("Mod+k")}
          onClick={onSearch}
        >
          <Icon name="search" />
          <span className="rail-word">Search</span>
          <span className="rail-key" aria-hidden="true">
            <Key of="Mod+k" />
          </span>
        </button>
      </div>
      <div className="rail-places" ref={places}>
        {PLACES.map((place) => (
          <Link
            key={place.href}
            href={place.href}
            className="rail-link"
            title={place.name}
            aria-current={isUnder(here, place.href) ? "page" : undefined}
          >
            <Icon name={place.icon} />
            <span className="rail-word">{place.name}</span>
            {place.href === "/" && waiting.length > 0 && (
              <span className="count">
                {waiting.length}
                <span className="unseen"> waiting for a person</span>
              </span>
            )}
            {place.kind && kinds.has(place.kind) && (
              <span className="dot live">
                <span className="unseen">, running</span>
              </span>
            )}
          </Link>
        ))}
      </div>
      <RailSessions title="Waiting for a person" sessions={waiting} here={here} />
      <RailSessions title="Running now" sessions={running} here={here} />
      <div className="rail-foot">
        <button
          type="button"
          className="rail-link"
          aria-haspopup="dialog"
          aria-keyshortcuts="?"
          onClick={onHelp}
        >
          <Icon name="keyboard" />
          <span className="rail-word">Shortcuts</span>
        </button>
      </div>
    </nav>
  );
}

/** On a phone the places are one row, of which only a part can be seen. */
function showCurrent(row: HTMLElement): void {
  const current = row.querySelector<HTMLElement>('[aria-current="page"]');
  if (!current || row.scrollWidth <= row.clientWidth) return;
  row.scrollTo({ left: current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2 });
}

interface RailSessionsProps {
  title: string;
  sessions: readonly Session[];
  here: string;
}

function RailSessions({ title, sessions, here }: RailSessionsProps) {
  if (sessions.length === 0) return null;
  return (
    <ul className="rail-sessions" aria-label={title}>
      {sessions.map((session) => {
        const names = waitsFor(session);
        const waits = names.length > 0 ? `, waiting for ${names.join(", ")}` : "";
        return (
          <li key={session.id}>
            <Link
              href={pageOf(session)}
              aria-current={here === pageOf(session) ? "page" : undefined}
              title={`${kindName(session.kind)}: ${session.title}${waits}`}
            >
              <span className="rail-kind">
                <Icon name={kindIcon(session.kind)} />
              </span>
              <span className={waits === "" ? "dot live" : "dot waits"} />
              <span className="title">{session.title}</span>
              <span className="unseen">{waits}</span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
