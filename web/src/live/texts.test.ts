import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Texts } from "./texts";

let frames: (() => void)[] = [];

beforeEach(() => {
  frames = [];
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);
});
afterEach(() => vi.unstubAllGlobals());

function nextFrame(): void {
  for (const run of frames.splice(0)) run();
}

function delta(offset: number, text: string, callId = "advisor/1#1") {
  return { callId, attempt: 1, offset, text };
}

const size = (text: string) => new TextEncoder().encode(text).length;

describe("a text that is written", () => {
  it("is what was sent, however it was cut: offsets count bytes", () => {
    const pieces = fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme", maxLength: 8 }),
        fc.constantFrom("é", "東京", "👩‍👧", "ﷺ"),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pieces, (all) => {
        const texts = new Texts();
        let offset = 0;
        for (const piece of all) {
          // An empty piece at the beginning begins anew, as the server's first one does.
          expect(texts.add(delta(offset, piece))).toBe(true);
          offset += size(piece);
        }
        texts.flush();
        expect(texts.of("advisor/1#1").read()).toBe(all.join(""));
      }),
    );
  });

  it("tells of a gap, and keeps what it has", () => {
    const texts = new Texts();
    expect(texts.add(delta(0, "é"))).toBe(true);
    expect(texts.add(delta(1, "counted in characters"))).toBe(false);
    expect(texts.add(delta(3, "after a gap"))).toBe(false);
    expect(texts.add(delta(2, "!"))).toBe(true);
    expect(texts.of("advisor/1#1").text).toBe("é!");
  });

  it("does not take a piece twice", () => {
    const texts = new Texts();
    texts.add(delta(0, "one"));
    texts.add(delta(3, " two"));
    expect(texts.add(delta(3, " two"))).toBe(false);
    expect(texts.of("advisor/1#1").text).toBe("one two");
  });

  it("begins anew at offset 0, for another attempt or a late reader", () => {
    const texts = new Texts();
    texts.add(delta(0, "first try"));
    expect(texts.add(delta(0, "second"))).toBe(true);
    expect(texts.add(delta(6, " try"))).toBe(true);
    expect(texts.of("advisor/1#1").text).toBe("second try");
  });

  it("knows which attempt it is", () => {
    const texts = new Texts();
    texts.add(delta(0, "first try"));
    expect(texts.of("advisor/1#1").attempt).toBe(1);
    texts.add({ ...delta(0, "second"), attempt: 2 });
    expect(texts.of("advisor/1#1").attempt).toBe(2);
  });

  it("of a call that nothing is known of needs its beginning", () => {
    expect(new Texts().add(delta(12, "middle"))).toBe(false);
  });
});

describe("what is on screen", () => {
  it("is renewed by frames, two texts in each, all in turn", () => {
    const texts = new Texts();
    const calls = ["a", "b", "c", "d", "e"];
    const told: string[] = [];
    for (const call of calls) {
      texts.of(call).subscribe(() => told.push(call));
      texts.add(delta(0, call, call));
    }
    expect(told).toEqual([]);
    nextFrame();
    expect(told).toEqual(["a", "b"]);
    nextFrame();
    expect(told).toEqual(["a", "b", "c", "d"]);
    nextFrame();
    expect(told).toEqual(calls);
    expect(frames).toEqual([]);
  });

  it("shows several pieces of one frame at once", () => {
    const texts = new Texts();
    let count = 0;
    texts.of("a").subscribe(() => (count += 1));
    texts.add(delta(0, "one", "a"));
    texts.add(delta(3, " two", "a"));
    expect(texts.of("a").read()).toBe("");
    nextFrame();
    expect([texts.of("a").read(), count]).toEqual(["one two", 1]);
  });

  it("shows everything at once when an answer has ended", () => {
    const texts = new Texts();
    for (const call of ["a", "b", "c"]) texts.add(delta(0, call, call));
    texts.flush();
    expect(["a", "b", "c"].map((call) => texts.of(call).read())).toEqual(["a", "b", "c"]);
  });

  it("tells nobody who has left", () => {
    const texts = new Texts();
    let count = 0;
    const leave = texts.of("a").subscribe(() => (count += 1));
    leave();
    texts.add(delta(0, "one", "a"));
    texts.flush();
    expect(count).toBe(0);
  });

  it("keeps what an attempt had written when the next one begins", () => {
    const texts = new Texts();
    texts.add(delta(0, "From eleven migrations"));
    texts.add({ ...delta(0, "From"), attempt: 2 });
    const { text, broken, attempt } = texts.of("advisor/1#1");
    expect([text, broken, attempt]).toEqual(["From", "From eleven migrations", 2]);
    // A stream that is read again from its beginning is no new attempt.
    texts.add({ ...delta(0, "From twelve"), attempt: 2 });
    expect(texts.of("advisor/1#1").broken).toBe("From eleven migrations");
  });
});
