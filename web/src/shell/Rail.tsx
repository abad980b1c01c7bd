import { Link, useLocation } from "wouter";
import { Icon, Mark, type IconName } from "../ui/icons";
import { kindName, pageOf, useSessions } from "./sessions";

const PLACES: readonly { href: string; name: string; icon: IconName; kind?: string }[] = [
  { href: "/", name: "Home", icon: "home" },
  { href: "/boardrooms", name: "Boardroom", icon: "boardroom", kind: "boardroom" },
  { href: "/discussions", name: "Discussions", icon: "discussion", kind: "discussion" },
  { href: "/whiteboards", name: "Whiteboards", icon: "whiteboard", kind: "whiteboard" },
  { href: "/councils", name: "Councils", icon: "council", kind: "council" },
  { href: "/history", name: "History", icon: "history" },
  { href: "/library", name: "Library", icon: "library" },
  { href: "/settings", name: "Settings", icon: "settings" },
];

const RUNNING_SHOWN = 8;

export function Rail() {
  const [here] = useLocation();
  const running = useSessions({ active: true, limit: RUNNING_SHOWN }).data ?? [];
  const kinds = new Set(running.map((session) => session.kind));
  return (
    <nav className="rail no-print" aria-label="Main">
      <Link href="/" className="mark" aria-label="Plenary">
        <Mark />
      </Link>
      {PLACES.map((place) => (
        <Link
          key={place.href}
          href={place.href}
          className="rail-link"
          aria-current={isUnder(here, place.href) ? "page" : undefined}
        >
          <Icon name={place.icon} />
          {place.name}
          {place.kind && kinds.has(place.kind) && (
            <span className="dot live">
              <span className="unseen">, running</span>
            </span>
          )}
        </Link>
      ))}
      {running.length > 0 && (
        <ul className="rail-sessions" aria-label="Running now">
          {running.map((session) => (
            <li key={session.id}>
              <Link
                href={pageOf(session)}
                aria-current={here === pageOf(session) ? "page" : undefined}
                title={`${kindName(session.kind)}: ${session.title}`}
              >
                <span className="dot live" />
                <span className="title">{session.title}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

function isUnder(here: string, place: string): boolean {
  return place === "/" ? here === "/" : here === place || here.startsWith(`${place}/`);
}
