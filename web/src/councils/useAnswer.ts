import { useRef, useState } from "react";
import { useLiveSession, type LiveEvent } from "../live/session";
import { announce } from "../ui/announce";
import { councilKey, type CouncilPage } from "./useCouncil";

const ENDS: readonly string[] = ["answered", "passed", "answerFailed", "answerStopped"];
/** After these a turn may have ended without a post. */
const MAY_CUT: readonly string[] = [
  "passed",
  "answerFailed",
  "answerStopped",
  "stopped",
  "changed",
  "closed",
];

/** The answer that is being written. Who writes it is the server's word. */
export function useAnswer(
  view: CouncilPage["view"],
  turnEnded: (upto: number | undefined) => void,
) {
  // By member: the call that brings its answer, and with which version of the view it ended.
  const [calls, setCalls] = useState<ReadonlyMap<string, { id: string; endedAt?: number }>>(
    new Map(),
  );
  // Of each member, up to which post it has been asked and is done.
  const [done, setDone] = useState<ReadonlyMap<string, number>>(new Map());
  const version = useRef(view.version);
  version.current = view.version;
  const onEvent = ({ event }: LiveEvent) => {
    const member = typeof event["member"] === "string" ? event["member"] : undefined;
    const upto = typeof event["upto"] === "number" ? event["upto"] : undefined;
    if (event.type === "answered" && member) announce(`${member} answered`);
    if (event.type === "passed" && member) announce(`${member} passed`);
    if (event.type === "answerFailed" && member) announce(`${member} could not answer`);
    if (MAY_CUT.includes(event.type)) {
      turnEnded(upto);
    }
    if (member && upto !== undefined && ENDS.includes(event.type)) {
      setDone((now) => new Map(now).set(member, upto));
    }
    if (member && upto !== undefined && event.type === "turnBegan") {
      setDone((now) => new Map(now).set(member, upto - 1));
    }
    if (member && ["answered", "passed", "answerFailed"].includes(event.type)) {
      setCalls((now) => {
        const call = now.get(member);
        return call ? new Map(now).set(member, { ...call, endedAt: version.current }) : now;
      });
    }
  };
  const live = useLiveSession({
    url: `/api/councils/${encodeURIComponent(view.council)}/events`,
    after: view.version,
    keys: [councilKey(view.council)],
    onEvent,
    onCall: (id) => setCalls((now) => new Map(now).set(memberOf(id), { id })),
  });
  const call = view.answering === undefined ? undefined : calls.get(view.answering);
  // An answer that has ended is shown until the post is here, and not a moment longer.
  const isShown = call && (call.endedAt === undefined || view.version <= call.endedAt);
  const held =
    view.answering === undefined
      ? undefined
      : heldOf(live.held, view.answering, done.get(view.answering));
  return { text: isShown ? live.texts.of(call.id) : undefined, held, connection: live.connection };
}

/**
 * What holds the call that a member answers now: its latest, unless that is over. The view
 * names the member and not the call, but later calls go up to later posts.
 */
export function heldOf<Hold>(
  held: ReadonlyMap<string, Hold>,
  member: string,
  done: number | undefined,
): Hold | undefined {
  const calls = [...held.keys()].filter((id) => memberOf(id) === member);
  const latest = Math.max(...calls.map(uptoOf));
  return latest > (done ?? -1) ? held.get(`answer/${member}/${latest}`) : undefined;
}

function uptoOf(callId: string): number {
  return Number(callId.split("/")[2]);
}

/** A call for an answer is `answer/MEMBER/UPTO`; no name has a slash. */
function memberOf(callId: string): string {
  return callId.split("/")[1] ?? callId;
}
