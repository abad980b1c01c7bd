// The topic, as whom you are here, and what is true for somebody who has not joined.

import type { Connection } from "../live/follow";
import { SessionHead } from "../session/SessionHead";
import { Notice } from "../ui/Notice";
import { Acting } from "./Acting";
import { useBoardPage } from "./board";
import type { Identities } from "./identity";
import { canBeJoined } from "./phases";
import { exportItems } from "./Record";

interface Props {
  identities: Identities;
  connection: Connection;
}

export function Head({ identities, connection }: Props) {
  const { view, looking } = useBoardPage();
  return (
    <SessionHead
      session={{
        id: view.sessionId,
        kind: "whiteboard",
        name: view.boardId,
        title: view.topic,
      }}
      about={
        <>
          {view.project && `${view.project} · `}
          {view.boardId}
        </>
      }
      status={view.phase}
      connection={connection}
      // Who seats no models has nothing to spend.
      took={(view.usage ?? view.budget) && { ...view, usage: view.usage ?? {} }}
      exports={exportItems(looking)}
      actions={
        (view.phase !== "archived" || identities.all.length > 0) && (
          <Acting board={looking.board} identities={identities} canJoin={canBeJoined(view.phase)} />
        )
      }
    />
  );
}

/** Says to somebody without an identity what they see, and why. */
export function Outsider() {
  const { view } = useBoardPage();
  if (view.you || view.phase === "archived") return null;
  return (
    <div className="no-print">
      <Notice>
        {view.phase === "blind"
          ? "You are viewing as a guest. While the board is blind, you see only the topic, the phase and who opened it. Join to write what you think."
          : canBeJoined(view.phase)
            ? "You are viewing as a guest. Join to take part."
            : "You are viewing as a guest. Joining is closed."}
      </Notice>
    </div>
  );
}
