import { useSyncExternalStore } from "react";
import type { GrowingText, Texts } from "../live/texts";
import { Lanes, percent, span } from "../session/Lanes";
import { duration, useNow } from "../ui/time";
import { Glyph, Icon, inRole } from "../ui/icons";
import { isRunning, type Board } from "./board";
import { hasTimes, timeline, type Span } from "./lanes";

interface Props {
  board: Board;
  texts: Texts;
  onFocus: (advisor: number) => void;
}

const LEAST_MS = 2_000;
const NO_TIMES = "This board was imported, and its record does not say who wrote when.";

/** Who wrote when: waiting is pale, writing is full. */
export function Timeline({ board, texts, onFocus }: Props) {
  const now = useNow(isRunning(board), 500);
  const { lanes: rows, wholeMs } = timeline(board, now);
  if (rows.length === 0) return <p className="muted map-note">{NO_TIMES}</p>;
  const whole = Math.max(LEAST_MS, wholeMs);
  return (
    <>
      <Lanes
        label="Timeline"
        wholeMs={whole}
        rows={rows.map(({ key, role, own, name, advisor, callId, span: of }) => ({
          key,
          colours: role === undefined ? {} : inRole(role, own),
          name: (
            <>
              {role === undefined ? (
                <span className="glyph small">
                  <Icon name="flag" />
                </span>
              ) : (
                <Glyph role={role} own={own} small />
              )}
              {name}
            </>
          ),
          label: `Show ${name}`,
          onChoose: advisor === undefined ? undefined : () => onFocus(advisor),
          track: (
            <>
              <Bar of={of} text={texts.of(callId)} nowMs={wholeMs} wholeMs={whole} />
              <span className="unseen">{inWords(of)}</span>
            </>
          ),
        }))}
      />
      <p className="muted map-note">
        {hasTimes(board) ? "" : `${NO_TIMES} `}Pale: waiting for the first word. Idle time is left
        out.
      </p>
    </>
  );
}

interface BarProps {
  of: Span;
  text: GrowingText;
  nowMs: number;
  wholeMs: number;
}

function Bar({ of, text, nowMs, wholeMs }: BarProps) {
  const isWriting = useSyncExternalStore(text.subscribe, () => text.shown !== "");
  const end = of.endMs ?? nowMs;
  // Of one that is still going only is known whether it has begun to write, not since when.
  const isBegun = of.outcome === "writing" ? isWriting : true;
  const first = isBegun ? Math.min(of.firstMs ?? of.beganMs, end) : end;
  const written = Math.max(0, end - first) / Math.max(1, end - of.askedMs);
  return (
    <span
      className={`bar ${of.outcome}`}
      title={inWords(of)}
      style={span(of.askedMs, end, wholeMs)}
    >
      <span style={{ width: percent(written) }} />
    </span>
  );
}

const OUTCOMES: Record<Span["outcome"], string> = {
  writing: "still writing",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};

function inWords(span: Span): string {
  return [
    `Asked at ${duration(span.askedMs)}`,
    ...(span.firstMs === undefined ? [] : [`first word at ${duration(span.firstMs)}`]),
    span.endMs === undefined
      ? OUTCOMES[span.outcome]
      : `${OUTCOMES[span.outcome]} at ${duration(span.endMs)}`,
  ].join(", ");
}
