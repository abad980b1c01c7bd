// Several sessions at once: which are chosen, and the same done with each.

/** One after another. What fails keeps nothing else from being done. */
export async function withEach<One>(
  all: readonly One[],
  act: (one: One) => Promise<unknown>,
): Promise<{ failed: One[]; error?: unknown }> {
  const failed: One[] = [];
  let first: unknown;
  for (const one of all) {
    try {
      await act(one);
    } catch (error) {
      failed.push(one);
      first ??= error;
    }
  }
  return failed.length === 0 ? { failed } : { failed, error: first };
}

/** After a click on one; with Shift, all from the one before it are as that one is now. */
export function chosenAfter(
  chosen: ReadonlySet<string>,
  order: readonly string[],
  clicked: string,
  from?: string,
): Set<string> {
  const next = new Set(chosen);
  // What is not shown any more is no place to begin from.
  const other = from !== undefined && order.includes(from) ? from : clicked;
  const [start = 0, end = 0] = [order.indexOf(other), order.indexOf(clicked)].sort((a, b) => a - b);
  const isOn = !chosen.has(clicked);
  for (const id of order.slice(start, end + 1)) {
    if (isOn) next.add(id);
    else next.delete(id);
  }
  return next;
}
