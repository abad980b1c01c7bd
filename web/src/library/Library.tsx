import "./library.css";
import { Link } from "wouter";
import { useTitle } from "../shell/Shell";
import { Empty } from "../ui/Empty";
import { Agents } from "./Agents";
import { BoardForm } from "./BoardForm";
import { Boards } from "./Boards";
import { Models } from "./Models";

const SHELVES = [
  { name: "agents", title: "Agents" },
  { name: "facilitators", title: "Facilitators" },
  { name: "boards", title: "Boards" },
  { name: "models", title: "Models" },
] as const;

interface Props {
  shelf: string | undefined;
  /** A board, or `new`. */
  item: string | undefined;
}

export default function Library({ shelf = "agents", item }: Props) {
  const chosen = SHELVES.find((one) => one.name === shelf);
  useTitle(chosen ? `${chosen.title} · Library` : "Library");
  return (
    <div className="page library">
      <h1>Library</h1>
      {/* Each shelf has an address, so these are links and not tabs. */}
      <nav className="library-shelves no-print" aria-label="Sections">
        {SHELVES.map((one) => (
          <Link
            key={one.name}
            href={`/library/${one.name}`}
            aria-current={one.name === chosen?.name ? "page" : undefined}
          >
            {one.title}
          </Link>
        ))}
      </nav>
      {shelfOf(item === undefined || chosen?.name === "boards" ? chosen?.name : undefined, item)}
    </div>
  );
}

function shelfOf(name: (typeof SHELVES)[number]["name"] | undefined, item: string | undefined) {
  switch (name) {
    case "agents":
      return <Agents key="agents" isFacilitator={false} />;
    case "facilitators":
      return <Agents key="facilitators" isFacilitator />;
    case "boards":
      return item === undefined ? <Boards /> : <BoardForm key={item} name={item} />;
    case "models":
      return <Models />;
    case undefined:
      return (
        <Empty action={<Link href="/library/agents">Go to the agents</Link>}>
          There is no such section in the library.
        </Empty>
      );
  }
}
