import { useSyncExternalStore } from "react";
import type { GrowingText, Texts } from "../live/texts";
import { duration, useNow } from "../ui/time";
import { Glyph, Icon } from "../ui/icons";
import { isRunning, type Board } from "./board";
import { hasTimes, tickInWords, ticks, timeline, type Lane, type Span } from "./lanes";

interface Props {
  board: Board;
  texts: Texts;
  onFocus: (advisor: number) => void;
}

const LEAST_MS = 2_000;
const NO_TIMES = "This board was imported: its record does not say who wrote when.";

/** Who wrote when: waiting is pale, writing is full. */
export function Timeline({ board, texts, onFocus }: Props) {
  const now = useNow(isRunning(board), 500);
  const { lanes: rows, wholeMs } = timeline(board, now);
  if (rows.length === 0) return <p className="muted map-note">{NO_TIMES}</p>;
  const whole = Math.max(LEAST_MS, wholeMs);
  return (
    <>
      <ul className="lanes" aria-label="Timeline">
        {rows.map((lane) => (
          <li key={lane.key} className="lane" data-role={lane.role}>
            <LaneName lane={lane} onFocus={onFocus} />
            <span className="track">
              <Bar span={lane.span} text={texts.of(lane.callId)} nowMs={wholeMs} wholeMs={whole} />
              <span className="unseen">{inWords(lane.span)}</span>
            </span>
          </li>
        ))}
      </ul>
      <div className="axis" aria-hidden="true">
        {ticks(whole).map((at) => (
          <span key={at} style={{ left: `${(100 * at) / whole}%` }}>
            {tickInWords(at)}
          </span>
        ))}
      </div>
      <p className="muted map-note">
        {hasTimes(board) ? "" : `${NO_TIMES} `}Pale = waiting for the first word. Time in which
        nobody was asked is left out.
      </p>
    </>
  );
}

function LaneName({ lane, onFocus }: { lane: Lane; onFocus: (advisor: number) => void }) {
  const { advisor } = lane;
  if (advisor === undefined || lane.role === undefined) {
    return (
      <span className="lane-name">
        <span className="glyph small">
          <Icon name="flag" />
        </span>
        {lane.name}
      </span>
    );
  }
  return (
    <button
      type="button"
      className="lane-name"
      aria-label={`Show ${lane.name}`}
      onClick={() => onFocus(advisor)}
    >
      <Glyph role={lane.role} small />
      {lane.name}
    </button>
  );
}

interface BarProps {
  span: Span;
  text: GrowingText;
  nowMs: number;
  wholeMs: number;
}

function Bar({ span, text, nowMs, wholeMs }: BarProps) {
  const isWriting = useSyncExternalStore(text.subscribe, () => text.shown !== "");
  const end = span.endMs ?? nowMs;
  // Of one that is still going only is known whether it has begun to write, not since when.
  const isBegun = span.outcome === "writing" ? isWriting : true;
  const first = isBegun ? Math.min(span.firstMs ?? span.beganMs, end) : end;
  const written = Math.max(0, end - first) / Math.max(1, end - span.askedMs);
  const percent = (part: number) => `${100 * Math.max(0, part)}%`;
  return (
    <span
      className={`bar ${span.outcome}`}
      title={inWords(span)}
      style={{
        left: percent(span.askedMs / wholeMs),
        width: percent((end - span.askedMs) / wholeMs),
      }}
    >
      <span style={{ width: percent(written) }} />
    </span>
  );
}

const OUTCOMES: Record<Span["outcome"], string> = {
  writing: "still going",
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
