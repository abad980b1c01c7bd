// The words and colours of every session's status, in one place.

interface Shown {
  word: string;
  look: "" | "good" | "bad" | "warn" | "accent";
  live?: boolean;
}

const STATUSES: Record<string, Shown> = {
  answering: { word: "Answering", look: "good", live: true },
  synthesizing: { word: "Writing the verdict", look: "good", live: true },
  balloting: { word: "Voting", look: "good", live: true },
  closed: { word: "Done", look: "" },
  stopped: { word: "Stopped", look: "warn" },
  failed: { word: "Failed", look: "bad" },
  draft: { word: "Draft", look: "" },
  active: { word: "Active", look: "good", live: true },
  pausing: { word: "Pausing after this turn", look: "warn", live: true },
  paused: { word: "Paused", look: "warn" },
  concluded: { word: "Concluded", look: "accent" },
  open: { word: "Open", look: "good" },
  blind: { word: "Blind", look: "accent" },
  read: { word: "Read", look: "accent" },
  validate: { word: "Validate", look: "accent" },
  debate: { word: "Debate", look: "accent" },
  resolve: { word: "Resolve", look: "accent" },
  archived: { word: "Archived", look: "" },
  running: { word: "Running", look: "good", live: true },
  done: { word: "Done", look: "accent" },
  cancelled: { word: "Cancelled", look: "warn" },
  skipped: { word: "Skipped", look: "" },
  waiting: { word: "Waiting", look: "" },
};

/** A board is done by itself; a council is closed by somebody. */
export function statusOf(status: string, kind?: string): Shown {
  if (kind === "council" && status === "closed") return { word: "Closed", look: "" };
  return STATUSES[status] ?? { word: status, look: "" };
}

interface Props {
  status: string;
  kind?: string;
  word?: string | undefined;
  look?: Shown["look"];
}

export function StatusBadge({ status, kind, word, look }: Props) {
  const shown = statusOf(status, kind);
  return (
    <span className={`badge ${look ?? shown.look}`} data-status={status}>
      {shown.live && (
        <span className={(look ?? shown.look) === "warn" ? "dot waits" : "dot live"} />
      )}
      {word ?? shown.word}
    </span>
  );
}
