import { describe, expect, it } from "vitest";
import { range, type Limit } from "./limit-words";

function check(limit: Omit<Limit, "name">, words: string): void {
  expect(range({ name: "Anything", ...limit })).toBe(words);
}

describe("a limit in words", () => {
  it("has units that people use", () => {
    check({ unit: "bytes", least: 1, most: 65_536 }, "up to 64 kB");
    check({ unit: "bytes", least: 0, most: 4_194_304 }, "up to 4 MB");
    check({ unit: "bytes", least: 0, most: 300 }, "up to 300 bytes");
    check({ unit: "seconds", least: 1, most: 2_592_000 }, "up to 30 days");
    check({ unit: "seconds", least: 5, most: 3_600 }, "5 seconds to 1 hour");
    check({ unit: "characters", least: 1, most: 80 }, "up to 80 characters");
  });

  it("names both ends, and the unit once", () => {
    check({ unit: "count", least: 1, most: 16 }, "1 to 16");
    check({ unit: "tokens", least: 16, most: 65_536 }, "16 to 65,536 tokens");
  });

  it("may have no upper end", () => {
    check({ unit: "tokens", least: 1_000 }, "at least 1,000 tokens");
  });

  it("says what counts when nothing is said", () => {
    check({ unit: "count", least: 1, most: 50, usual: 5 }, "1 to 50, by default 5");
    check(
      { unit: "seconds", least: 0, most: 3_600, usual: 20 },
      "up to 1 hour, by default 20 seconds",
    );
  });
});
