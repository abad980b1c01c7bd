// Texts that grow while models write. Deltas land in plain strings; what is on screen is
// renewed at most once per frame, and at most two texts in one frame, taken in turn: six
// panels never make one long frame.

import { useSyncExternalStore } from "react";

/** A piece of an answer, as the server sends it. `offset` counts bytes of UTF-8. */
export interface Delta {
  callId: string;
  attempt: number;
  offset: number;
  text: string;
}

const PER_FRAME = 2;
const bytes = new TextEncoder();

export class GrowingText {
  /** What readers see; behind `text` by a few frames. */
  shown = "";
  text = "";
  length = 0;
  /** From 1; more where a request failed, or the server was killed, and it is written again. */
  attempt = 1;
  /** What the attempt before had written when it broke off. */
  broken = "";
  private listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): string => this.shown;

  show(): void {
    if (this.shown === this.text) return;
    this.shown = this.text;
    for (const listener of this.listeners) listener();
  }
}

export class Texts {
  private texts = new Map<string, GrowingText>();
  private changed: GrowingText[] = [];
  private frame = 0;

  /** The text of a call; the same object for as long as the page shows this session. */
  of(callId: string): GrowingText {
    let text = this.texts.get(callId);
    if (!text) {
      text = new GrowingText();
      this.texts.set(callId, text);
    }
    return text;
  }

  /** False when a piece is missing before this one: the reader has to begin anew. */
  add(delta: Delta): boolean {
    const text = this.of(delta.callId);
    if (delta.offset === 0) {
      if (delta.attempt > text.attempt && text.text !== "") text.broken = text.text;
      text.attempt = delta.attempt;
      text.text = delta.text;
      text.length = bytes.encode(delta.text).length;
    } else if (delta.offset === text.length) {
      text.text += delta.text;
      text.length += bytes.encode(delta.text).length;
    } else {
      return false;
    }
    if (!this.changed.includes(text)) this.changed.push(text);
    this.schedule();
    return true;
  }

  /** Shows everything now, for instance when an answer has ended. */
  flush(): void {
    for (const text of this.changed.splice(0)) text.show();
  }

  private schedule(): void {
    if (this.frame) return;
    // A hidden page has no frames; what it shows can wait until it is looked at.
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const text of this.changed.splice(0, PER_FRAME)) text.show();
      if (this.changed.length > 0) this.schedule();
    });
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }
}

export function useText(text: GrowingText): string {
  return useSyncExternalStore(text.subscribe, text.read);
}

export const BEGUN_AGAIN = "An earlier attempt was interrupted. The answer starts over.";

export function useBegunAgain(text: GrowingText): boolean {
  return useSyncExternalStore(text.subscribe, () => text.attempt > 1);
}
