// Every kind of session, in one place: what it is called, where it lives, how it may stand.

import type { IconName } from "../ui/icons";

export interface Kind {
  /** On screen: one of them, and the page of all of them. */
  name: string;
  plural: string;
  /** The noun of its addresses, on the page and under `/api`. */
  place: string;
  /** The page of all of them, where it is another. */
  list?: string;
  icon: IconName;
  /** In the order in which they come. */
  statuses: readonly string[];
  /** How a new one is begun, with other words by which that is found. */
  start: { label: string; href: string; words: string };
}

const KINDS: Readonly<Record<string, Kind>> = {
  boardroom: {
    name: "Boardroom",
    plural: "Boards",
    place: "boardrooms",
    icon: "boardroom",
    statuses: ["answering", "synthesizing", "balloting", "closed", "stopped", "failed"],
    start: { label: "New board", href: "/boardrooms", words: "convene ask boardroom" },
  },
  discussion: {
    name: "Discussion",
    plural: "Discussions",
    place: "discussions",
    icon: "discussion",
    statuses: ["draft", "active", "pausing", "paused", "concluded", "stopped", "failed"],
    start: { label: "New discussion", href: "/discussions/new", words: "discuss start" },
  },
  whiteboard: {
    name: "Whiteboard",
    plural: "Whiteboards",
    place: "whiteboards",
    icon: "whiteboard",
    statuses: ["blind", "read", "validate", "debate", "resolve", "archived"],
    start: { label: "Open a whiteboard", href: "/whiteboards", words: "new board phases" },
  },
  council: {
    name: "Council",
    plural: "Councils",
    place: "councils",
    icon: "council",
    statuses: ["open", "closed"],
    start: { label: "Open a council", href: "/councils", words: "new charter" },
  },
  workflow: {
    name: "Workflow",
    plural: "Workflows",
    place: "runs",
    list: "workflows",
    icon: "workflow",
    statuses: ["running", "done", "failed", "cancelled"],
    start: { label: "New workflow", href: "/workflows/new", words: "run yaml steps automate" },
  },
};

export const ALL_KINDS: readonly (Kind & { kind: string })[] = Object.entries(KINDS).map(
  ([kind, known]) => ({ kind, ...known }),
);

export function kindOf(kind: string): Kind | undefined {
  return KINDS[kind];
}

/** One that is newer than this page has at least a name. */
export function kindName(kind: string): string {
  return KINDS[kind]?.name ?? kind.charAt(0).toUpperCase() + kind.slice(1);
}

export function kindIcon(kind: string): IconName {
  return KINDS[kind]?.icon ?? "file";
}

/** The page of all of a kind. */
export function listOf(kind: string): string {
  const known = KINDS[kind];
  return `/${known?.list ?? known?.place ?? "history"}`;
}

interface Named {
  id: string;
  kind: string;
  name?: string | undefined;
}

/** The page of a session. */
export function pageOf({ id, kind, name }: Named): string {
  return `/${KINDS[kind]?.place ?? "history"}/${encodeURIComponent(name ?? id)}`;
}

/** The record of a session as a document. */
export function exportOf(session: Named, format: "markdown" | "json" = "markdown"): string {
  return `/api${pageOf(session)}/export?format=${format}`;
}

/** A file is called after what is in it; the server says so of what it exports. */
export function fileName(title: string, otherwise: string): string {
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return words.replace(/^-|-$/g, "").slice(0, 60) || otherwise;
}
