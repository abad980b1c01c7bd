import fc from "fast-check";
import { expect, it } from "vitest";
import { initials } from "./initials";

it("are two letters by which roles are known", () => {
  const names = ["Advocate", "Critic", "Analyst", "Devil’s Advocate", "Expert", "Generalist"];
  expect(initials(names)).toEqual(["Ad", "Cr", "An", "Da", "Ex", "Ge"]);
});

it("differ where names begin alike", () => {
  expect(initials(["Critic", "Critic 2", "Cryptographer", "Cr"])).toEqual(["Cr", "C2", "Cy", "C1"]);
});

it("that somebody chose are kept, and the others give way", () => {
  expect(initials(["Critic", "Crypto", "Crypto 2"], [undefined, "Cr", "Cr"])).toEqual([
    "Ci",
    "Cr",
    "C2",
  ]);
});

it("are never alike on a board", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 9 }), (names) => {
      const all = initials(names);
      return new Set(all).size === all.length;
    }),
  );
});
