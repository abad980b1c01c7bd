// Where the steps of a workflow stand, and how their edges run. The graph folds like text:
// after so many columns it goes on in a new line, so that nobody has to pan.

export interface Node {
  id: string;
  needs: readonly string[];
  heightPx: number;
}

export interface Placed {
  id: string;
  x: number;
  y: number;
  height: number;
  /** Whether it stands in a column of its line that others do not share. */
  column: number;
  line: number;
}

export interface Edge {
  from: string;
  to: string;
  /** As an SVG path. */
  path: string;
}

export interface Laid {
  nodes: Placed[];
  edges: Edge[];
  width: number;
  height: number;
}

export const NODE_PX = 132;
const GAP_PX = 32;
/** Between two in one column. */
const STACK_PX = 16;
/** Between two lines: edges run there. */
const LINE_PX = 36;
const MARGIN_PX = 24;
const CORNER_PX = 7;

export function layout(nodes: readonly Node[], columns: number): Laid {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const links = reduced(nodes, byId);
  const ranks = ranked(nodes, links);
  const placed = new Map<string, Placed>();
  const lineEnds: number[] = [];
  let top = MARGIN_PX;
  folded(ranks, links, columns).forEach((line, at) => {
    const stacks = line.map((rank) => ordered(rank, links, placed));
    const heights = stacks.map((stack) => tall(stack, byId));
    const height = Math.max(...heights);
    stacks.forEach((stack, column) => {
      let y = top + (height - (heights[column] ?? 0)) / 2;
      for (const id of stack) {
        const own = byId.get(id)?.heightPx ?? 0;
        const x = MARGIN_PX + column * (NODE_PX + GAP_PX);
        placed.set(id, { id, x, y, height: own, column, line: at });
        y += own + STACK_PX;
      }
    });
    lineEnds.push(top + height);
    top += height + LINE_PX;
  });
  const all = nodes.flatMap((node) => placed.get(node.id) ?? []);
  return {
    nodes: all,
    edges: edges(links, placed, lineEnds),
    width: Math.max(0, ...all.map((node) => node.x + NODE_PX)) + MARGIN_PX,
    height: top - LINE_PX + MARGIN_PX,
  };
}

type Links = ReadonlyMap<string, readonly string[]>;

/** What each needs, without what it needs by way of another anyhow. */
function reduced(nodes: readonly Node[], byId: ReadonlyMap<string, Node>): Links {
  const above = new Map<string, Set<string>>();
  const links = new Map<string, string[]>();
  const visit = (id: string, path: readonly string[]): Set<string> => {
    const known = above.get(id);
    if (known) return known;
    const all = new Set<string>();
    above.set(id, all);
    const needs = [...new Set(byId.get(id)?.needs)].filter(
      (need) => byId.has(need) && need !== id && !path.includes(need),
    );
    for (const need of needs) {
      for (const one of visit(need, [...path, id])) all.add(one);
    }
    // What stands above another need is reached by way of that one.
    links.set(
      id,
      needs.filter((need) => !all.has(need)),
    );
    for (const need of needs) all.add(need);
    return all;
  };
  for (const node of nodes) visit(node.id, []);
  return links;
}

/** Each as soon as everything before it is done. */
function ranked(nodes: readonly Node[], links: Links): string[][] {
  const ranks = new Map<string, number>();
  const rankOf = (id: string): number => {
    const known = ranks.get(id);
    if (known !== undefined) return known;
    ranks.set(id, 0);
    const rank = Math.max(-1, ...(links.get(id) ?? []).map(rankOf)) + 1;
    ranks.set(id, rank);
    return rank;
  };
  const lines: string[][] = [];
  for (const { id } of nodes) (lines[rankOf(id)] ??= []).push(id);
  return lines;
}

/** Lines of at most so many ranks; a line ends a little earlier where fewer edges are cut. */
function folded(ranks: string[][], links: Links, columns: number): string[][][] {
  const rankOf = new Map(ranks.flatMap((rank, at) => rank.map((id) => [id, at] as const)));
  const isClean = (at: number) =>
    [...links].every(([id, needs]) =>
      needs.every((need) => {
        const [from = 0, to = 0] = [rankOf.get(need), rankOf.get(id)];
        return from >= at || to < at || (from === at - 1 && to === at);
      }),
    );
  const lines: string[][][] = [];
  let at = 0;
  while (at < ranks.length) {
    const rest = ranks.length - at;
    const choice = [columns, columns - 1].filter((size) => size > 0);
    const size = rest <= columns ? rest : (choice.find((one) => isClean(at + one)) ?? columns);
    lines.push(ranks.slice(at, at + size));
    at += size;
  }
  return lines;
}

/** In the order of what they need, as far as that stands already. */
function ordered(rank: readonly string[], links: Links, placed: ReadonlyMap<string, Placed>) {
  const weight = (id: string) => {
    const ys = (links.get(id) ?? []).flatMap((need) => placed.get(need)?.y ?? []);
    return ys.length === 0 ? Infinity : ys.reduce((sum, y) => sum + y, 0) / ys.length;
  };
  return rank
    .map((id, at) => ({ id, at, by: weight(id) }))
    .sort((a, b) => (a.by === b.by ? a.at - b.at : a.by - b.by))
    .map(({ id }) => id);
}

function tall(stack: readonly string[], byId: ReadonlyMap<string, Node>): number {
  const heights = stack.map((id) => byId.get(id)?.heightPx ?? 0);
  return heights.reduce((sum, one) => sum + one, 0) + STACK_PX * Math.max(0, stack.length - 1);
}

function edges(links: Links, placed: ReadonlyMap<string, Placed>, lineEnds: number[]): Edge[] {
  return [...links].flatMap(([to, needs]) =>
    needs.flatMap((from) => {
      const [a, b] = [placed.get(from), placed.get(to)];
      return a && b ? [{ from, to, path: path(a, b, lineEnds[a.line] ?? 0) }] : [];
    }),
  );
}

type Point = readonly [number, number];

function path(from: Placed, to: Placed, lineEnd: number): string {
  const start: Point = [from.x + NODE_PX, from.y + from.height / 2];
  const end: Point = [to.x, to.y + to.height / 2];
  const out = start[0] + GAP_PX / 2;
  const into = end[0] - GAP_PX / 2;
  if (from.line === to.line && to.column === from.column + 1) {
    return rounded([start, [out, start[1]], [out, end[1]], end]);
  }
  // Around what stands between, beneath its line.
  const beneath = lineEnd + LINE_PX / 2;
  return rounded([start, [out, start[1]], [out, beneath], [into, beneath], [into, end[1]], end]);
}

/** A line through these points, with round corners. */
function rounded(points: readonly Point[]): string {
  const kept = points.filter((point, at) => {
    const before = points[at - 1];
    return !before || before[0] !== point[0] || before[1] !== point[1];
  });
  return kept
    .map(([x, y], at) => {
      const [before, after] = [kept[at - 1], kept[at + 1]];
      if (!before) return `M${x} ${y}`;
      if (!after) return `L${x} ${y}`;
      const near = (to: Point): Point => {
        const length = Math.hypot(to[0] - x, to[1] - y);
        const part = Math.min(CORNER_PX, length / 2) / length;
        return [x + (to[0] - x) * part, y + (to[1] - y) * part];
      };
      const [a, b] = [near(before), near(after)];
      return `L${a[0]} ${a[1]}Q${x} ${y} ${b[0]} ${b[1]}`;
    })
    .join("");
}
