// A discussion, live: what was said, who is speaking, what can be done.

import { useCallback, useRef, useState } from "react";
import { useLiveSession } from "../live/session";
import { SessionPage } from "../session/SessionPage";
import { useMilestones } from "../ui/announce";
import { Notice, Wrong } from "../ui/Notice";
import { useShortcuts } from "../ui/shortcuts";
import { Aside } from "./Aside";
import { useCommands } from "./commands";
import { ConclusionCard } from "./ConclusionCard";
import { useDiscussion, type Known } from "./data";
import "./discussions.css";
import { DraftPage } from "./DraftPage";
import { useFollowing } from "./following";
import { Head } from "./Head";
import { Interject } from "./Interject";
import { milestones } from "./milestones";
import { LatestChip } from "./LatestChip";
import { Timeline } from "./Timeline";
import { headline, isSpoken } from "./words";

export default function Discussion({ id }: { id: string }) {
  const query = useDiscussion(id);
  const { data } = query;
  const live = useLiveSession({
    url: data && `/api/discussions/${encodeURIComponent(id)}/events`,
    ...(data && { after: data.view.version }),
    keys: [["discussions", id]],
  });
  return (
    <SessionPage
      kind="discussion"
      query={query}
      connection={live.connection}
      id={({ view }) => view.id}
      title={({ view }) => headline(view.topic, view.name)}
    >
      {(known) =>
        known.view.status === "draft" ? (
          <DraftPage view={known.view} />
        ) : (
          <Running known={known} live={live} />
        )
      }
    </SessionPage>
  );
}

function Running({ known, live }: { known: Known; live: ReturnType<typeof useLiveSession> }) {
  const { view, entries } = known;
  const commands = useCommands(view);
  const timeline = useRef<HTMLDivElement>(null);
  const following = useFollowing(timeline, entries.filter(isSpoken).length);
  const [isInterjecting, setInterjecting] = useState(false);
  useMilestones(view, milestones);

  const jump = useCallback((to: Element | null | undefined) => {
    if (!(to instanceof HTMLElement)) return;
    to.scrollIntoView({ block: "start" });
    to.focus({ preventScroll: true });
  }, []);
  const jumpTo = useCallback(
    (number: number) => jump(timeline.current?.querySelector(`[data-entry="${number}"]`)),
    [jump],
  );
  const step = (by: 1 | -1) => {
    const cards = [...(timeline.current?.querySelectorAll("[data-entry]") ?? [])];
    const here = cards.findIndex((card) => card.contains(document.activeElement));
    jump(here < 0 ? (by > 0 ? cards[0] : cards.at(-1)) : cards[here + by]);
  };
  useShortcuts([
    { key: "p", label: "Pause or resume", run: commands.pauseOrResume },
    { key: "j", label: "Next turn", run: () => step(1) },
    { key: "k", label: "Previous turn", run: () => step(-1) },
    { key: "c", label: "Conclude now", run: () => commands.askToConclude() },
    ...(view.allowed.includes("interject")
      ? [{ key: "i", label: "Interject", run: () => setInterjecting(true) }]
      : []),
  ]);

  return (
    <div className="discussion">
      <Head
        view={view}
        connection={live.connection}
        commands={commands}
        onInterject={() => setInterjecting(true)}
      />
      <Wrong error={commands.error} />
      {view.status === "failed" && view.problem !== undefined && (
        <Notice look="bad">
          <p>{view.problem}</p>
          <p className="hint">
            Everything said so far is kept. Resume continues with the step that was due.
          </p>
        </Notice>
      )}
      <div className="discussion-columns">
        <Aside known={known} onJump={jumpTo} />
        <ConclusionCard view={view} />
        <Timeline ref={timeline} known={known} live={live} isFollowing={following.isFollowing} />
      </div>
      <div className="dock no-print">
        <LatestChip view={view} following={following} />
        <Interject view={view} isAsked={isInterjecting} onDone={() => setInterjecting(false)} />
      </div>
      {commands.dialogs}
    </div>
  );
}
