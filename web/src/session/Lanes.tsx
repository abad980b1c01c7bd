import type { ReactNode } from "react";
import { tickInWords, ticks } from "./axis";

export interface LaneRow {
  key: string;
  /** The colours of a role. */
  colours?: object;
  /** Who or what it is of; with something to do, it is a button. */
  name: ReactNode;
  label?: string;
  onChoose?: (() => void) | undefined;
  /** Its bars, placed by `span`, and words for those who cannot see them. */
  track: ReactNode;
}

interface Props {
  label: string;
  rows: readonly LaneRow[];
  wholeMs: number;
}

/** Lanes over one axis of time. */
export function Lanes({ label, rows, wholeMs }: Props) {
  return (
    <>
      <ul className="lanes" aria-label={label}>
        {rows.map((row) => (
          <li key={row.key} className="lane" {...row.colours}>
            {row.onChoose ? (
              <button
                type="button"
                className="lane-name"
                aria-label={row.label}
                onClick={row.onChoose}
              >
                {row.name}
              </button>
            ) : (
              <span className="lane-name">{row.name}</span>
            )}
            <span className="track">{row.track}</span>
          </li>
        ))}
      </ul>
      <div className="axis" aria-hidden="true">
        {ticks(wholeMs).map((at) => (
          <span key={at} style={{ left: percent(at / wholeMs) }}>
            {tickInWords(at)}
          </span>
        ))}
      </div>
    </>
  );
}

export function percent(part: number): string {
  return `${100 * Math.max(0, part)}%`;
}

/** Where a bar stands on its track. */
export function span(fromMs: number, toMs: number, wholeMs: number) {
  // The narrowest bar has its place at the very end, too.
  const left = `min(${percent(fromMs / wholeMs)}, calc(100% - 4px))`;
  return { left, width: percent((toMs - fromMs) / wholeMs) };
}
