import { useSyncExternalStore } from "react";
import type { LiveSession } from "../live/session";
import type { Advisor } from "./board";
import { standingOf, type Standing } from "./standing";

/** How it stands with each of them, by what is on screen of them. */
export function useStandings(
  asked: readonly Advisor[],
  { texts, reasonings, held }: LiveSession,
): Standing[] {
  const words = useSyncExternalStore(
    (listener) => {
      const leave = asked.flatMap(({ callId }) =>
        [texts, reasonings].map((one) => one.of(callId).subscribe(listener)),
      );
      return () => leave.forEach((end) => end());
    },
    () =>
      asked
        .map(({ callId }) => (texts.of(callId).shown ? 2 : reasonings.of(callId).shown ? 1 : 0))
        .join(""),
  );
  return asked.map((advisor, place) =>
    standingOf(
      advisor,
      held.get(advisor.callId),
      ([undefined, "thoughts", "words"] as const)[Number(words[place])],
    ),
  );
}
