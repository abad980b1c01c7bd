import { duration, useNow } from "../ui/time";
import { Glyph, Icon } from "../ui/icons";
import { isRunning, type Board } from "./board";
import { lanes, lengthMs, ticks, type Lane, type Moment, type Span } from "./timeline";

interface Props {
  board: Board;
  moments: readonly Moment[];
  onFocus: (advisor: number) => void;
}

const LEAST_MS = 2_000;

/** Who wrote when: waiting is faint, writing is full. */
export function Timeline({ board, moments, onFocus }: Props) {
  const now = useNow(isRunning(board), 500);
  const sinceMs = now - Date.parse(board.convenedAt);
  const rows = lanes(board, moments);
  const ends = rows.flatMap((lane) => lane.spans.map((span) => span.endMs ?? sinceMs));
  const whole = Math.max(LEAST_MS, lengthMs(board, moments) ?? 0, ...ends);
  return (
    <>
      <ul className="lanes" aria-label="Timeline">
        {rows.map((lane) => (
          <li key={lane.key} className="lane" data-role={lane.role}>
            <LaneName lane={lane} onFocus={onFocus} />
            <span className="track">
              {lane.spans.map((span, place) => (
                <Bar key={place} span={span} nowMs={sinceMs} wholeMs={whole} />
              ))}
              <span className="unseen">{lane.spans.map((span) => inWords(span)).join("; ")}</span>
            </span>
          </li>
        ))}
      </ul>
      <div className="axis" aria-hidden="true">
        {ticks(whole).map((at) => (
          <span key={at} style={{ left: `${(100 * at) / whole}%` }}>
            {at === 0 ? "0" : duration(at).replace(".0", "")}
          </span>
        ))}
      </div>
      <p className="muted map-note">
        From the record: asked, first word, end. Faint is the time before the first word.
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

function Bar({ span, nowMs, wholeMs }: { span: Span; nowMs: number; wholeMs: number }) {
  const end = span.endMs ?? nowMs;
  const first = Math.min(span.firstMs ?? (span.outcome === "writing" ? end : span.beganMs), end);
  const percent = (ms: number) => `${(100 * Math.max(0, ms)) / wholeMs}%`;
  return (
    <span
      className={`bar ${span.outcome}`}
      title={inWords(span)}
      style={{ left: percent(span.askedMs), width: percent(end - span.askedMs) }}
    >
      <span
        style={{ width: `${(100 * Math.max(0, end - first)) / Math.max(1, end - span.askedMs)}%` }}
      />
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
