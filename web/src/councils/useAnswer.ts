import { useRef, useState } from "react";
import { useLiveSession, type LiveEvent } from "../live/session";
import { announce } from "../ui/announce";
import { councilKey, type CouncilPage } from "./useCouncil";

/** The answer that is being written. Who writes it is the server's word. */
export function useAnswer(
  view: CouncilPage["view"],
  turnEnded: (upto: number | undefined) => void,
) {
  // By member: the call that brings its answer, and with which version of the view it ended.
  const [calls, setCalls] = useState<ReadonlyMap<string, { id: string; endedAt?: number }>>(
    new Map(),
  );
  const version = useRef(view.version);
  version.current = view.version;
  const onEvent = ({ event }: LiveEvent) => {
    const member = typeof event["member"] === "string" ? event["member"] : undefined;
    const upto = typeof event["upto"] === "number" ? event["upto"] : undefined;
    if (event.type === "answered" && member) announce(`${member} answered`);
    if (event.type === "passed" && member) announce(`${member} passed`);
    if (event.type === "answerFailed" && member) announce(`${member} could not answer`);
    if (["passed", "answerFailed", "answerStopped", "stopped", "closed"].includes(event.type)) {
      turnEnded(upto);
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
  const held = [...live.held.values()].find((one) => memberOf(one.callId) === view.answering);
  return { text: isShown ? live.texts.of(call.id) : undefined, held, connection: live.connection };
}

/** A call for an answer is `answer/MEMBER/UPTO`; no name has a slash. */
function memberOf(callId: string): string {
  return callId.split("/")[1] ?? callId;
}
