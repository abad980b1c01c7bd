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
  const [start, end] = [order.indexOf(from ?? clicked), order.indexOf(clicked)].sort(
    (one, other) => one - other,
  );
  const isOn = !chosen.has(clicked);
  for (const id of order.slice(Math.max(0, start ?? 0), (end ?? 0) + 1)) {
    if (isOn) next.add(id);
    else next.delete(id);
  }
  return next;
}
