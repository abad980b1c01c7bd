// A session, live: what the server shows of it, renewed whenever something durable happens,
// and the texts that are being written. Rules stay on the server: the page never works out a
// state from events, it asks again.

import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Connection, Frame } from "./follow";
import { renewal } from "./renewal";
import { share } from "./shared";
import { Texts, type Delta } from "./texts";

/** A durable event, as it comes: `event.type` names it. */
export interface LiveEvent {
  sessionId: string;
  kind: string;
  at: string;
  actor: string;
  event: { type: string } & Record<string, unknown>;
}

export interface Retrying {
  callId: string;
  attempt: number;
  waitMs: number;
  /** By this browser's clock. */
  until: number;
  message: string;
}

export interface Waiting {
  callId: string;
  attempt: number;
  place: number;
}

interface Options {
  /** The stream, like `/api/boardrooms/ID/events`. `undefined` as long as it is not known. */
  url: string | undefined;
  /** The version of the view that is shown already. */
  after?: number;
  /** What to ask again after an event. */
  keys: QueryKey[];
  /** By which an agent proves itself. */
  agentToken?: string;
  onEvent?: (event: LiveEvent) => void;
  /** The text of a call begins, or begins anew; for views that do not name their calls. */
  onCall?: (callId: string) => void;
}

export interface LiveSession {
  texts: Texts;
  reasonings: Texts;
  connection: Connection;
  /** By call: a request that is tried again, or waits for a busy model. */
  held: ReadonlyMap<string, Retrying | Waiting>;
}

const RENEW_MS = 60;

export function useLiveSession(options: Options): LiveSession {
  const { url, agentToken } = options;
  const queries = useQueryClient();
  const latest = useRef(options);
  latest.current = options;
  const [texts] = useState(() => new Texts());
  const [reasonings] = useState(() => new Texts());
  const [connection, setConnection] = useState<Connection>("connecting");
  const [held, setHeld] = useState<ReadonlyMap<string, Retrying | Waiting>>(new Map());
  const [round, setRound] = useState(0);
  /** The last event of which stream. */
  const seen = useRef<{ stream: string; id: string }>(undefined);

  useEffect(() => {
    if (url === undefined) return undefined;
    const renewing = renewal(queries, () => latest.current.keys, RENEW_MS);
    const release = (callId: string) =>
      setHeld((now) => {
        if (!now.has(callId)) return now;
        const next = new Map(now);
        next.delete(callId);
        return next;
      });
    const stream = JSON.stringify([url, agentToken]);
    const onFrame = (frame: Frame) => {
      if (frame.id !== undefined) seen.current = { stream, id: frame.id };
      const data: unknown = JSON.parse(frame.data);
      switch (frame.event) {
        case "delta":
        case "reasoning": {
          const delta = data as Delta;
          const kept = (frame.event === "delta" ? texts : reasonings).add(delta);
          release(delta.callId);
          if (frame.event === "delta" && delta.offset === 0) {
            latest.current.onCall?.(delta.callId);
          }
          if (!kept) setRound((now) => now + 1);
          return;
        }
        case "retrying":
        case "waiting": {
          const hold = data as Retrying | Waiting;
          if ("waitMs" in hold) hold.until = Date.now() + hold.waitMs;
          setHeld((now) => new Map(now).set(hold.callId, hold));
          return;
        }
        default:
          texts.flush();
          reasonings.flush();
          renewing.soon();
          if (frame.event !== "removed") latest.current.onEvent?.(data as LiveEvent);
      }
    };
    const known = seen.current?.stream === stream ? seen.current.id : undefined;
    const after = known ?? latest.current.after;
    const end = share({
      url,
      ...(after !== undefined && { after: String(after) }),
      ...(agentToken !== undefined && { headers: { "Agent-Token": agentToken } }),
      onFrame,
      onConnection: (now) => {
        setConnection(now);
        // What happened while it was broken may have been more than events tell.
        if (now === "live") renewing.soon();
      },
    });
    return () => {
      end();
      renewing.end();
    };
  }, [url, agentToken, queries, texts, reasonings, round]);

  useEffect(
    () => () => {
      texts.close();
      reasonings.close();
    },
    [texts, reasonings],
  );
  return { texts, reasonings, connection, held };
}
