// Every drawing of the page, on a grid of 16, as strokes.

import type { CSSProperties } from "react";

const PATHS = {
  // Roles of a board
  advocate: "M3 8.5l3.2 3.2L13 5",
  critic: "M4 4l8 8M12 4l-8 8",
  analyst: "M3 13V8M8 13V3M13 13V6",
  "devils-advocate": "M4 6h8l-3-3M12 10H4l3 3",
  expert: "M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z",
  generalist: "M8 2a6 6 0 100 12A6 6 0 008 2M2 8h12M8 2c3 3 3 9 0 12M8 2c-3 3-3 9 0 12",
  // Who speaks
  participant: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  devil_advocate: "M4 6h8l-3-3M12 10H4l3 3",
  observer:
    "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8M8 6a2 2 0 100 4 2 2 0 000-4",
  moderator: "M9 3l4 4M6 6l4 4M7.5 4.5l4 4M8 8l-5.5 5.5M9 14h5",
  facilitator: "M9 3l4 4M6 6l4 4M7.5 4.5l4 4M8 8l-5.5 5.5M9 14h5",
  operator: "M8 2l5 2v3.500c0 3-2 5.200-5 6.500-3-1.300-5-3.500-5-6.500V4z",
  specialist: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  person: "M8 2.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5M3 13.5c.5-3 2.5-4.2 5-4.2s4.5 1.2 5 4.2",
  // Places
  home: "M2.5 7.5L8 3l5.5 4.5M4 6.5v7h8v-7M6.8 13.5V10h2.4v3.5",
  boardroom: "M2.5 3h11v4h-11zM2.5 9.5h3v4h-3zM6.7 9.5h3v4h-3zM10.8 9.5h2.7v4h-2.7z",
  discussion: "M2 3h8v5H5l-2 1.8V8H2zM7 10.5h4l2 1.8v-1.8h1V6h-1.5",
  whiteboard: "M2 3h12v8H2zM5 14l1.5-3M11 14l-1.5-3M5 6h4M5 8h6",
  council:
    "M8 2.5a2 2 0 100 4 2 2 0 000-4M3.5 8.5a1.7 1.7 0 100 3.4 1.7 1.7 0 000-3.4M12.5 8.5a1.7 1.7 0 100 3.4 1.7 1.7 0 000-3.4M8 6.5v3M5 9l1.5-1.5M11 9L9.5 7.5",
  workflow: "M2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4zM6.5 4.5h3.500a1.500 1.500 0 011.500 1.500v3.500",
  library: "M3 2.500v11M6 2.500v11M9 3l3.5 10.200M2 13.500h12",
  history: "M3 8a5 5 0 105-5c-2 0-3.5 1-4.3 2.500M3 2.800v3h3M8 5.500V8l2 1.5",
  settings:
    "M3 4.500h6M12 4.500h1M10.5 3v3M3 8h1M7 8h6M5.5 6.500v3M3 11.500h5M11 11.500h2M9.5 10v3",
  // Things to do
  play: "M5 3.500l7.5 4.500L5 12.500z",
  stop: "M4 4h8v8H4z",
  pause: "M5.5 3.500v9M10.5 3.500v9",
  retry: "M13 8a5 5 0 11-1.5-3.600M13 2.500V5h-2.5",
  copy: "M5.5 5.500h8v8h-8zM10.5 5.500v-3h-8v8h3",
  download: "M8 2.500v7.500M5 7.500L8 10.500l3-3M3 13.500h10",
  print: "M4.5 6V2.500h7V6M4.5 11.500h-2V6h11v5.500h-2M4.5 9.500h7v4h-7z",
  expand: "M9.5 2.500h4v4M6.5 13.500h-4v-4M13.5 2.500L9 7M2.5 13.500L7 9",
  shrink: "M13 6.500H9.500V3M3 9.500h3.500V13M9.5 6.500L13.5 2.500M6.5 9.500l-4 4",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.800 3v10",
  tabs: "M2.5 6h11v7h-11zM2.500 6V3h4v3",
  focus: "M2.5 3h11v7h-11zM2.500 13h2M7 13h2M11.5 13h2",
  map: "M2.5 3h3v3h-3zM6.500 3h3v3h-3zM10.500 3h3v3h-3zM2.500 10h3v3h-3zM6.500 10h3v3h-3zM10.500 10h3v3h-3z",
  attach:
    "M13 7.500l-5.200 5.200a3.200 3.200 0 01-4.500-4.500L8.800 2.700a2.100 2.100 0 013 3L6.500 11a1 1 0 01-1.500-1.500L9.700 4.800",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.500l3.200 3.200L13 5",
  trash: "M3 4.500h10M6.5 4.500v-2h3v2M4.5 4.500l.6 9h5.800l.6-9",
  edit: "M3 13l.7-3L10.5 3.200l2.300 2.300L6 12.300z",
  search: "M7 2.500a4.5 4.5 0 100 9 4.5 4.5 0 000-9M10.300 10.300L13.5 13.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  upload: "M8 10.500V3M5 5.500L8 2.500l3 3M3 13.500h10",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  fork: "M4.5 5.500v5M4.500 8c0-1.500 1-2 3-2h1.500c1.500 0 2.500-.500 2.500-2M4.500 2.500a1.500 1.500 0 100 3 1.500 1.500 0 000-3M4.500 10.500a1.500 1.500 0 100 3 1.500 1.500 0 000-3M11.500 2a1.500 1.500 0 100 3 1.500 1.500 0 000-3",
  reply: "M6 3.500L2.500 7 6 10.500M2.500 7h6.500a4.500 4.500 0 014.500 4.500v1",
  pin: "M5.5 2.500h5M6.500 2.500v4L4 9.500h8L9.500 6.500v-4M8 9.500v4.500",
  unpin: "M5.5 2.500h5M6.500 2.500v4L4 9.500h8L9.500 6.500v-4M8 9.500v4.500M2.500 2.500l11 11",
  link: "M6.5 9.500l3-3M7 5l1.5-1.500a2.5 2.5 0 013.5 3.500L10.5 8.500M9 11l-1.5 1.500A2.5 2.5 0 014 9l1.5-1.5",
  keyboard: "M1.5 4.500h13v7h-13zM4 7h.01M6.5 7h.01M9 7h.01M11.5 7h.01M5 9.500h6",
  sun: "M8 5a3 3 0 100 6 3 3 0 000-6M8 1.500v1M8 13.500v1M1.5 8h1M13.5 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M3.400 12.600l.7-.7M11.900 4.100l.7-.7",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  clock: "M8 2.500a5.5 5.5 0 100 11 5.5 5.5 0 000-11M8 5v3.300l2.200 1.3",
  warning: "M8 2.500l6 11H2zM8 6.500v3M8 11.700v.01",
  lock: "M4 7h8v6.500H4zM5.5 7V5a2.5 2.5 0 015 0v2",
  flag: "M4 14V2.500h8L10 5.500l2 3H4",
} as const;

export type IconName = keyof typeof PATHS;

/** Drawn as a body, not as a line. */
const FILLED: ReadonlySet<IconName> = new Set(["play", "stop"]);

export function isIcon(name: string): name is IconName {
  return name in PATHS;
}

export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill={FILLED.has(name) ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A role of somebody's own: its colour, and a sign or letters in place of a drawing. */
export interface OwnLook {
  colour?: string;
  glyph?: string;
  initials: string;
}

/** Puts whatever stands inside into the colours of a role. */
export function inRole(
  role: string,
  own?: OwnLook,
): { "data-role": string; style?: CSSProperties } {
  if (!own) return { "data-role": role };
  return {
    "data-role": "own",
    style: { "--role-colour": own.colour || "#607d8b" } as CSSProperties,
  };
}

interface GlyphProps {
  role: string;
  own?: OwnLook | undefined;
  small?: boolean;
  label?: string;
}

/** A role's drawing on its tint. Its name always stands beside it, or in `label`. */
export function Glyph({ role, own, small = false, label }: GlyphProps) {
  return (
    <span className={small ? "glyph small" : "glyph"} {...inRole(role, own)} title={label}>
      {own ? (
        <span aria-hidden="true">{own.glyph || own.initials}</span>
      ) : (
        <Icon name={isIcon(role) ? role : "participant"} />
      )}
      {label !== undefined && <span className="unseen">{label}</span>}
    </span>
  );
}

export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <circle cx="12" cy="12" r="9" />
      <path d="M8.5 4v16M12 3v18M15.5 4v16" />
    </svg>
  );
}
