// A formula as elements: the browser sets it, and whoever listens hears it as mathematics.

import { createElement, type ReactNode } from "react";
import type { Formula as Found, MathNode } from "./tex";

export function Formula({ of: { tree, isDisplay } }: { of: Found }) {
  return createElement("math", isDisplay ? { display: "block", tabIndex: 0 } : {}, drawn(tree, 0));
}

function drawn({ tag, attributes, children }: MathNode, key: number): ReactNode {
  const inside = typeof children === "string" ? [children] : children.map(drawn);
  return createElement(tag, { key, ...attributes }, ...inside);
}
