import { expect, it } from "vitest";
import { address, EVERYTHING, isNarrowed, read } from "./filter";

it("is the same after it has been in the address", () => {
  const looked = { q: "a & b = c?", kind: "council", status: "open", active: true, waiting: true };
  const { searchParams } = new URL(address(looked), "http://localhost");
  expect(read(searchParams)).toEqual(looked);
});

it("leaves out of the address what is not looked for", () => {
  expect(address(EVERYTHING)).toBe("/history");
  expect(address({ ...EVERYTHING, q: "tea" })).toBe("/history?q=tea");
  expect([isNarrowed(EVERYTHING), isNarrowed({ ...EVERYTHING, active: true })]).toEqual([
    false,
    true,
  ]);
});

it("passes over what is none of ours", () => {
  expect(read(new URLSearchParams("?other=1&active=maybe"))).toEqual(EVERYTHING);
});
