import { describe, expect, it } from "vitest";
import { isSeated, seatsOf } from "./Seats";

describe("seats of a new board", () => {
  it("are sent with a model, a tier or an agent where one is chosen", () =>
    expect(
      seatsOf([
        { name: " max ", model: "" },
        { name: "sec", model: "@the-contrarian" },
        { name: "dev", model: "strong" },
      ]),
    ).toEqual([
      { name: "max" },
      { name: "sec", model: "@the-contrarian" },
      { name: "dev", tier: "strong" },
    ]));
  it("need names that agents may have", () => {
    expect(isSeated([{ name: "max", model: "" }])).toBe(true);
    expect(isSeated([{ name: "", model: "" }])).toBe(false);
    expect(isSeated([{ name: "m x", model: "" }])).toBe(false);
  });
});
