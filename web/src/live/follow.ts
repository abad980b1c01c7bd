// Server-sent events read by fetch, because an EventSource can send no header (an agent's
// token) and does not say why it failed. Comes back by itself after a break, with the id of
// the last event, so that nothing is lost or doubled.

import { tokenIsWanted } from "../api/access";
import { isFromProxy, serverWasSilent } from "../api/reachable";

export interface Frame {
  id?: string;
  event: string;
  data: string;
}

/** `connecting` for the first time, `live`, `broken` while it tries again, `gone` for good. */
export type Connection = "connecting" | "live" | "broken" | "gone";

export interface Following {
  url: string;
  /** Everything after this id. */
  after?: string;
  headers?: Record<string, string>;
  onFrame: (frame: Frame) => void;
  onConnection?: (connection: Connection) => void;
}

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8_000;

/** Reads one stream, for this tab or for all of them, until the returned function is called. */
export function follow(following: Following): () => void {
  let last = following.after;
  let wait = FIRST_WAIT_MS;
  let ended = false;
  let current: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const tell = (connection: Connection) => {
    if (!ended) following.onConnection?.(connection);
  };

  async function connect(): Promise<void> {
    const controller = new AbortController();
    current = controller;
    let hasAnswered = false;
    try {
      const headers = new Headers(following.headers);
      headers.set("Accept", "text/event-stream");
      if (last !== undefined) headers.set("Last-Event-ID", last);
      const response = await fetch(following.url, { headers, signal: controller.signal });
      hasAnswered = !isFromProxy(response.status);
      if (response.status === 401) tokenIsWanted();
      if (response.status === 404) {
        tell("gone");
        return;
      }
      if (!response.ok || !response.body) throw new Error(`answered with ${response.status}`);
      wait = FIRST_WAIT_MS;
      tell("live");
      for await (const frame of frames(response.body)) {
        if (controller.signal.aborted) return;
        if (frame.id !== undefined) last = frame.id;
        try {
          following.onFrame(frame);
        } catch (error) {
          // A mistake of the page's own is no broken stream.
          reportError(error);
        }
      }
    } catch {
      // Whatever broke it, the answer is the same: try again.
    }
    if (ended || controller.signal.aborted) return;
    if (!hasAnswered) serverWasSilent();
    tell("broken");
    timer = setTimeout(() => void connect(), wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }

  void connect();
  return () => {
    ended = true;
    current?.abort();
    clearTimeout(timer);
  };
}

/** The frames of a body, however its bytes are cut. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      let end = rest.indexOf("\n\n");
      while (end >= 0) {
        const frame = parse(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (frame) yield frame;
        end = rest.indexOf("\n\n");
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** `undefined` for a comment. */
export function parse(text: string): Frame | undefined {
  const frame: Frame = { event: "message", data: "" };
  const data: string[] = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") frame.id = value;
    else if (name === "event") frame.event = value;
    else if (name === "data") data.push(value);
  }
  if (data.length === 0) return undefined;
  frame.data = data.join("\n");
  return frame;
}
