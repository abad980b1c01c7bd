import fc from "fast-check";
import { expect, it } from "vitest";
import { arrangement, GAP_PX, LEAST_COLUMN_PX } from "./arrangement";

it("six panels stand in three columns where there is room, else in two", () => {
  expect(arrangement(6, 1_000)).toEqual({ rows: 2, tracks: 9, spans: [3, 3, 3, 3, 3, 3] });
  expect(arrangement(6, 820)).toEqual({ rows: 3, tracks: 4, spans: [2, 2, 2, 2, 2, 2] });
});

it("the last row has no hole", () => {
  expect(arrangement(3, 820)).toEqual({ rows: 2, tracks: 2, spans: [1, 1, 2] });
  expect(arrangement(5, 1_000)).toEqual({ rows: 2, tracks: 6, spans: [2, 2, 2, 3, 3] });
});

it("every row is full, and no column is too narrow to be read", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 0, max: 3_000 }),
      (count, width) => {
        const { rows, tracks, spans } = arrangement(count, width);
        expect(spans.reduce((sum, span) => sum + span, 0)).toBe(rows * tracks);
        const columns = tracks / Math.min(...spans);
        if (columns > 1) {
          expect((width - GAP_PX * (columns - 1)) / columns).toBeGreaterThanOrEqual(
            LEAST_COLUMN_PX,
          );
        }
      },
    ),
  );
});
