import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frames, parse, type Frame } from "./follow";

/** A body that comes in pieces that end at these places. */
function cutInto(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const ends = [...cuts.toSorted((a, b) => a - b), bytes.length];
  let from = 0;
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift();
      if (end === undefined) return controller.close();
      controller.enqueue(bytes.slice(from, end));
      from = end;
    },
  });
}

async function read(text: string, cuts: readonly number[] = []): Promise<Frame[]> {
  const bytes = new TextEncoder().encode(text);
  const all: Frame[] = [];
  for await (const frame of frames(cutInto(bytes, cuts))) all.push(frame);
  return all;
}

const words = fc.stringMatching(/^[^\r\n]{0,12}$/u);
const frame = fc.record({
  id: fc.option(fc.nat({ max: 999 }).map(String), { nil: undefined }),
  event: fc.constantFrom("delta", "message", "answered"),
  lines: fc.array(fc.oneof(words, fc.constantFrom("東京", "é", "👩‍👧", "a: b", "")), {
    minLength: 1,
    maxLength: 3,
  }),
  comment: fc.boolean(),
});

describe("frames", () => {
  it("are the same however the bytes are cut, also inside a character", async () => {
    const streams = fc.array(frame, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        streams,
        fc.array(fc.nat({ max: 400 }), { maxLength: 30 }),
        async (all, cuts) => {
          const text = all
            .map(({ id, event, lines, comment }) => {
              const head = [comment ? ": alive\n\n" : "", id === undefined ? "" : `id: ${id}\n`];
              return `${head.join("")}event: ${event}\n${lines.map((line) => `data: ${line}\n`).join("")}\n`;
            })
            .join("");
          const expected = all.map(({ id, event, lines }) => ({
            ...(id !== undefined && { id }),
            event,
            data: lines.join("\n"),
          }));
          const size = new TextEncoder().encode(text).length;
          expect(
            await read(
              text,
              cuts.map((cut) => cut % (size + 1)),
            ),
          ).toEqual(expected);
          expect(
            await read(
              text,
              Array.from({ length: size }, (_, at) => at),
            ),
          ).toEqual(expected);
        },
      ),
      { numRuns: 100 },
    );
  }, 60_000);

  it("that are not whole when the stream ends are dropped", async () => {
    expect(await read("data: whole\n\ndata: half")).toEqual([{ event: "message", data: "whole" }]);
  });

  it("are read while the rest has not come yet", async () => {
    const encoder = new TextEncoder();
    let send: ((text: string) => void) | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => controller.enqueue(encoder.encode(text));
      },
    });
    const reading = frames(body);
    send?.("data: one\n\ndata: tw");
    expect((await reading.next()).value).toEqual({ event: "message", data: "one" });
    send?.("o\n\n");
    expect((await reading.next()).value).toEqual({ event: "message", data: "two" });
    await reading.return(undefined);
  });
});

describe("parse", () => {
  const check = (text: string, expected: Frame | undefined) =>
    expect(parse(text)).toEqual(expected);

  it("joins lines of data", () => check("data: a\ndata: b", { event: "message", data: "a\nb" }));
  it("takes one space after the colon", () => check("data:  a", { event: "message", data: " a" }));
  it("needs no space", () => check("data:a", { event: "message", data: "a" }));
  it("keeps colons of the data", () => check("data: a: b", { event: "message", data: "a: b" }));
  it("takes an empty line of data", () => check("data", { event: "message", data: "" }));
  it("reads id and event", () =>
    check("id: 7\nevent: delta\ndata: {}", { id: "7", event: "delta", data: "{}" }));
  it("passes over comments", () => check(": alive", undefined));
  it("passes over what it does not know", () => check("retry: 5\nother: x", undefined));
});
