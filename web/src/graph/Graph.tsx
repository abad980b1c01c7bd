import "../style/graph.css";
import { memo, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Icon, type IconName } from "../ui/icons";
import { layout, NODE_PX } from "./layout";
import { StateMark } from "./StateMark";

export interface Item {
  key: string;
  name: string;
  status: string;
  word: string;
  about?: string | undefined;
}

/** A step as the graph shows it. */
export interface Step {
  id: string;
  name: string;
  needs: readonly string[];
  icon: IconName;
  about: string;
  /** Of a run; a definition has none. */
  status?: string;
  word?: string;
  time?: string | undefined;
  /** Something is wrong with it in the file. */
  wrong?: "error" | "warning" | undefined;
  /** Of a `foreach`: what it goes through. */
  items?: readonly Item[];
  isMany?: boolean;
  /** Of a `repeat`: "2 of 3". */
  rounds?: { done: number; most?: number; words: string } | undefined;
}

interface Props {
  label: string;
  steps: readonly Step[];
  columns: number;
  chosen?: string | undefined;
  onChoose: (id: string) => void;
}

const NODE_HEIGHT_PX = 46;
const ITEM_PX = 19;
const ITEMS_SHOWN = 3;
const ROUNDS_PX = 12;
const GAP_PX = 32;
const MARGIN_PX = 24;
/** More edges than these are drawn plainly: dashes and arrows would cost frames. */
const DENSE = 100;

/** As many columns as there is room for, at most `columns`. */
export function Graph({ label, steps, columns, chosen, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const sized = new ResizeObserver(() => setWidth(element.clientWidth));
    sized.observe(element);
    return () => sized.disconnect();
  }, []);
  const room = Math.floor((width - 2 * MARGIN_PX + GAP_PX) / (NODE_PX + GAP_PX));
  const count = Math.max(1, Math.min(columns, width === 0 ? columns : room));
  // What happens in a run moves nothing unless it changes the shape.
  const shape = JSON.stringify(steps.map((step) => [step.id, step.needs, heightOf(step)]));
  const laid = useMemo(() => {
    const nodes = JSON.parse(shape) as [string, string[], number][];
    return layout(
      nodes.map(([id, needs, heightPx]) => ({ id, needs, heightPx })),
      count,
    );
  }, [shape, count]);
  const byId = new Map(steps.map((step) => [step.id, step]));
  return (
    <div
      className={laid.edges.length > DENSE ? "graph dense" : "graph"}
      ref={box}
      role="group"
      aria-label={label}
    >
      <div className="graph-inside" style={{ width: laid.width, height: laid.height }}>
        <svg width={laid.width} height={laid.height} aria-hidden="true">
          <defs>
            <marker
              id="graph-arrow"
              viewBox="0 0 6 6"
              refX="5"
              refY="3"
              markerWidth="6"
              markerHeight="6"
              orient="auto"
            >
              <path d="M0 0L6 3L0 6z" />
            </marker>
          </defs>
          {laid.edges.map(({ from, to, path }) => (
            <path
              key={`${from} ${to}`}
              d={path}
              className={edgeLook(byId.get(from), byId.get(to))}
              markerEnd="url(#graph-arrow)"
            />
          ))}
        </svg>
        {laid.nodes.map(({ id, x, y, height }) => {
          const step = byId.get(id);
          return (
            step && (
              <NodeBox
                key={id}
                step={step}
                x={x}
                y={y}
                height={height}
                isChosen={chosen === id || chosen?.startsWith(`${id}/`) === true}
                onChoose={onChoose}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function heightOf({ items = [], rounds }: Step): number {
  const rows = Math.min(items.length, ITEMS_SHOWN) + (items.length > ITEMS_SHOWN ? 1 : 0);
  return NODE_HEIGHT_PX + (rows > 0 ? rows * ITEM_PX + 8 : 0) + (rounds ? ROUNDS_PX : 0);
}

/** An edge says how far it is by what stands at its end. */
function edgeLook(from: Step | undefined, to: Step | undefined): string {
  if (from?.status === "failed") return "edge failed";
  if (to?.status === undefined) return "edge";
  if (to.status === "running") return "edge running";
  return to.status === "waiting" || to.status === "skipped" ? "edge waiting" : "edge";
}

interface NodeProps {
  step: Step;
  x: number;
  y: number;
  height: number;
  isChosen: boolean;
  onChoose: (id: string) => void;
}

const NodeBox = memo(
  function NodeBox({ step, x, y, height, isChosen, onChoose }: NodeProps) {
    const { id, items = [], rounds, status } = step;
    const rest = items.length - ITEMS_SHOWN;
    return (
      <button
        type="button"
        className={step.isMany ? "node many" : "node"}
        data-step={id}
        data-status={status}
        data-wrong={step.wrong}
        aria-pressed={isChosen}
        style={{ left: x, top: y, width: NODE_PX, height }}
        onClick={() => onChoose(id)}
      >
        <span className="node-name">
          {step.wrong ? (
            <span className={`node-wrong ${step.wrong}`}>
              <Icon name="warning" size={12} />
              <span className="unseen">{step.wrong}: </span>
            </span>
          ) : (
            status !== undefined && <StateMark status={status} word={step.word ?? status} />
          )}
          <strong title={step.name}>{step.name}</strong>
          {step.time !== undefined && <span className="number">{step.time}</span>}
        </span>
        <span className="node-about" title={step.about}>
          <Icon name={step.icon} size={11} />
          <span>{step.about}</span>
        </span>
        {rounds && <Segments {...rounds} />}
        {items.length > 0 && (
          <span className="node-items">
            {items.slice(0, ITEMS_SHOWN).map((item) => (
              <span key={item.key}>
                <StateMark status={item.status} word={item.word} isSmall />
                <span className="node-item">{item.name}</span>
                <span className="number">{item.about}</span>
              </span>
            ))}
            {rest > 0 && <span>and {rest} more</span>}
          </span>
        )}
      </button>
    );
  },
  (a, b) => JSON.stringify(a) === JSON.stringify(b) && a.onChoose === b.onChoose,
);

const SEGMENTS_MOST = 8;

function Segments({
  done,
  most,
  words,
}: {
  done: number;
  most?: number;
  words: string;
}): ReactNode {
  return (
    <span className="node-rounds">
      <span className="unseen">{words}</span>
      {most !== undefined && most <= SEGMENTS_MOST && (
        <span className="segments" aria-hidden="true">
          {Array.from({ length: most }, (_, at) => (
            <span key={at} className={at < done ? "done" : undefined} />
          ))}
        </span>
      )}
    </span>
  );
}
