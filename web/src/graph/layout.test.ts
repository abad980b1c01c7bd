import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layout, type Node } from "./layout";

const node = (id: string, ...needs: string[]): Node => ({ id, needs, heightPx: 46 });
const chain = (length: number) =>
  Array.from({ length }, (_, at) => node(`s${at}`, ...(at === 0 ? [] : [`s${at - 1}`])));
const places = (nodes: Node[], columns: number) =>
  layout(nodes, columns).nodes.map(({ id, line, column }) => [id, line, column]);

describe("a graph", () => {
  it("folds like text", () => {
    expect(places(chain(5), 3)).toEqual([
      ["s0", 0, 0],
      ["s1", 0, 1],
      ["s2", 0, 2],
      ["s3", 1, 0],
      ["s4", 1, 1],
    ]);
  });

  it("breaks a line earlier where no edge would be cut but one", () => {
    const nodes = [...chain(3), node("a", "s2"), node("b", "a", "s2"), node("c", "b", "a")];
    nodes.push(node("d", "s1", "a"));
    // After three columns the edge from s1 to d would be cut; after two it would be as well.
    expect(layout(nodes, 3).nodes.find(({ id }) => id === "a")).toMatchObject({ line: 1 });
  });

  it("leaves out what is needed by way of another", () => {
    const { edges } = layout([node("a"), node("b", "a"), node("c", "a", "b")], 5);
    expect(edges.map(({ from, to }) => `${from}-${to}`)).toEqual(["a-b", "b-c"]);
  });

  it("stands as soon as what it needs is done, beside others", () => {
    const laid = layout([node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c")], 5);
    expect(laid.nodes.map(({ column }) => column)).toEqual([0, 1, 1, 2]);
  });

  it("lives with steps that are not there, and with circles", () => {
    expect(places([node("a", "b"), node("b", "a", "gone"), node("c", "c")], 5)).toHaveLength(3);
  });

  it("never puts two in one place, and is quick for 200 steps", () => {
    const graph = fc
      .array(fc.array(fc.nat({ max: 199 }), { maxLength: 4 }), { maxLength: 60 })
      .map((all) =>
        all.map((needs, at) => node(`${at}`, ...needs.filter((need) => need < at).map(String))),
      );
    fc.assert(
      fc.property(graph, (nodes) => {
        const { nodes: placed } = layout(nodes, 5);
        return placed.every((a) =>
          placed.every(
            (b) => a === b || a.x !== b.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
          ),
        );
      }),
    );
    expect(layout(chain(200), 5).nodes).toHaveLength(200);
  });
});
