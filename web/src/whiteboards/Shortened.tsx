// A long list shows its beginning; the rest on demand.

import { useState, type ReactNode } from "react";

interface Props<Item> {
  items: readonly Item[];
  shown: number;
  className?: string;
  children: (item: Item) => ReactNode;
}

/** `children` makes the `li` of an item. */
export function Shortened<Item>({ items, shown, className, children }: Props<Item>) {
  const [isWhole, setWhole] = useState(false);
  const rest = isWhole ? 0 : Math.max(0, items.length - shown);
  return (
    <>
      <ul className={className}>{items.slice(0, items.length - rest).map(children)}</ul>
      {rest > 0 && (
        <button type="button" className="link-button muted" onClick={() => setWhole(true)}>
          and {rest} more
        </button>
      )}
    </>
  );
}
