import { expect, it, vi } from "vitest";

it("writes dates as the reader is used to", async () => {
  const own = Intl.DateTimeFormat;
  vi.stubGlobal("Intl", {
    ...Intl,
    RelativeTimeFormat: Intl.RelativeTimeFormat,
    NumberFormat: Intl.NumberFormat,
    DateTimeFormat: function (locale: string | undefined, options: object) {
      return new own(locale ?? "de-DE", { ...options, timeZone: "UTC" });
    },
  });
  vi.resetModules();
  const { ago, exactTime, moment, timeOfDay, wholeDate } = await import("./time");
  const at = "2026-11-18T20:03:04Z";
  expect([moment(at), wholeDate(at), timeOfDay(at), exactTime(at)]).toEqual([
    "18.11.2026, 20:03",
    "Mittwoch, 18. November 2026",
    "20:03",
    "20:03:04",
  ]);
  // Words are English, also of how long ago something was.
  expect(ago(at, Date.parse(at) + 3_600_000)).toBe("1 hour ago");
  vi.unstubAllGlobals();
});
