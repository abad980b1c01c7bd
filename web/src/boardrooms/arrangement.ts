// How panels fill a space: columns that can be read, rows without holes.

export const LEAST_COLUMN_PX = 320;
export const GAP_PX = 12;

export interface Arrangement {
  rows: number;
  /** Tracks of the grid; more than columns where the last row has fewer panels. */
  tracks: number;
  /** How many tracks a panel takes, by its place. */
  spans: number[];
}

export function arrangement(count: number, widthPx: number): Arrangement {
  const fitting = Math.max(1, Math.floor((widthPx + GAP_PX) / (LEAST_COLUMN_PX + GAP_PX)));
  const rows = Math.max(1, Math.ceil(count / fitting));
  // No more columns than these rows need: four panels stand two by two, not three and one.
  const columns = Math.max(1, Math.ceil(count / rows));
  const last = count - columns * (rows - 1);
  const spans = Array.from({ length: count }, (_, place) =>
    place < columns * (rows - 1) ? last : columns,
  );
  return { rows, tracks: columns * last, spans };
}

const STRIP_PX = 190;

/** Rows of heads above the panel that has the focus, and how many stand in one. */
export function strip(count: number, widthPx: number): { rows: number; columns: number } {
  if (count <= 0) return { rows: 0, columns: 1 };
  const fitting = Math.max(1, Math.floor((widthPx + GAP_PX) / (STRIP_PX + GAP_PX)));
  const columns = Math.min(count, fitting);
  return { rows: Math.ceil(count / columns), columns };
}
