import {
  useEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
} from "react";
import { Glyph, Icon } from "../ui/icons";
import type { Known } from "./data";
import { chart, type Mark } from "./lanes";

interface Props {
  known: Known;
  onJump: (number: number) => void;
}

const COLUMN_PX = 26;

/** Who spoke when. Each mark leads to its card; arrows move between marks. */
export function LaneMap({ known, onJump }: Props) {
  const { view, entries } = known;
  const { lanes, columns, marks, now } = useMemo(() => chart(view, entries), [view, entries]);
  const [chosen, setChosen] = useState<number>();
  const body = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stop = chosen ?? marks[0]?.number;
  const isAtEnd = useRef(true);
  useEffect(() => {
    const box = scroller.current;
    if (box && isAtEnd.current) box.scrollLeft = box.scrollWidth;
  }, [columns]);
  const move = (event: KeyboardEvent) => {
    const here = marks.findIndex((mark) => mark.number === stop);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: marks.length - 1 }[
      event.key
    ];
    const mark = to === undefined || to < 0 ? undefined : marks[to];
    if (!mark) return;
    event.preventDefault();
    setChosen(mark.number);
    body.current?.querySelector<HTMLElement>(`[data-mark="${mark.number}"]`)?.focus();
  };
  const size = { "--lanes": lanes.length, "--columns": columns } as CSSProperties;
  return (
    <div className="lane-map" style={size}>
      <ul className="lane-names" aria-label="Lanes">
        {lanes.map((lane) => (
          <li key={lane.id} data-role={lane.role} title={lane.name}>
            <span>{lane.name}</span>
          </li>
        ))}
      </ul>
      <div
        className="lane-scroller"
        ref={scroller}
        tabIndex={-1}
        onScroll={({ currentTarget: box }) => {
          isAtEnd.current = box.scrollWidth - box.scrollLeft - box.clientWidth < COLUMN_PX;
        }}
      >
        <div
          className="lane-body"
          ref={body}
          role="toolbar"
          aria-label="Turns, in order"
          onKeyDown={move}
        >
          {lanes.map((lane, row) => (
            <span key={lane.id} className="lane-line" style={{ gridRow: row + 1 }} />
          ))}
          {marks.map((mark) => (
            <button
              key={`${mark.lane}.${mark.column}`}
              type="button"
              className="lane-mark"
              data-kind={mark.kind}
              data-mark={mark.number}
              data-role={mark.role}
              data-status={mark.status}
              style={{ gridRow: mark.lane + 1, gridColumn: mark.column }}
              tabIndex={mark.number === stop ? 0 : -1}
              aria-label={mark.label}
              title={mark.label}
              onClick={() => {
                setChosen(mark.number);
                onJump(mark.number);
              }}
            >
              <Face mark={mark} />
            </button>
          ))}
          {now && (
            <span
              className="lane-mark"
              data-kind="now"
              style={{ gridRow: now.lane + 1, gridColumn: now.column }}
              data-role={lanes[now.lane]?.role}
              aria-hidden="true"
            >
              <span className="dot live" />
            </span>
          )}
        </div>
      </div>
    </div>
  );
}

function Face({ mark }: { mark: Mark }) {
  if (mark.kind === "end") return <Icon name="flag" />;
  if (mark.kind === "decision") return <span className="tick" />;
  if (mark.status !== "done") return <Icon name="close" />;
  return <Glyph role={mark.role} small />;
}
