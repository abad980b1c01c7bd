// The topic, as whom you are here, and what is true for somebody who has not joined.

import { Link } from "wouter";
import type { Connection } from "../live/follow";
import { Notice } from "../ui/Notice";
import { Acting } from "./Acting";
import { useBoardPage } from "./board";
import type { Identities } from "./identity";
import { canBeJoined } from "./phases";
import { Export } from "./Record";

interface Props {
  identities: Identities;
  connection: Connection;
}

export function Head({ identities, connection }: Props) {
  const { view, looking } = useBoardPage();
  return (
    <header className="whiteboard-head">
      <div className="whiteboard-title">
        <p className="eyebrow">
          <Link href="/whiteboards">Whiteboards</Link>
          {view.project && ` · ${view.project}`}
          {` · ${view.boardId}`}
        </p>
        <h1>{view.topic}</h1>
      </div>
      <div className="row no-print whiteboard-tools">
        {connection === "broken" && <span className="badge warn">Reconnecting</span>}
        {connection === "gone" && <span className="badge bad">Removed</span>}
        {(view.phase !== "archived" || identities.all.length > 0) && (
          <Acting board={looking.board} identities={identities} canJoin={canBeJoined(view.phase)} />
        )}
        <Export />
      </div>
    </header>
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
          ? "You are looking on without a name. While the board is blind, you see only the topic, the phase and who opened it. Join to write what you think."
          : canBeJoined(view.phase)
            ? "You are looking on without a name, and see what everyone may see. Join to take part."
            : "You are looking on without a name, and see what everyone may see. Joining is closed."}
      </Notice>
    </div>
  );
}
