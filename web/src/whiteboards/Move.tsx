// Moving the board on: what becomes visible, what can be done then, what ends. From resolve
// on, this is archiving.

import { useId, useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent } from "../api/write";
import { useKeptText } from "../stored";
import { Confirm } from "../ui/Confirm";
import { TextArea } from "../ui/Field";
import { Notice } from "../ui/Notice";
import { draftPlace, useBoardPage, useWriteHere } from "./board";
import { WhyNot } from "./Stepper";
import { becomesVisible, ends, phaseName, skipped, WAYS_ON, words, type Phase } from "./phases";

const REASONS_SHOWN = 6;

/** Closes by itself when the board has moved. */
export function Move({ onClose }: { onClose: () => void }) {
  const { looking, view } = useBoardPage();
  const [from] = useState(view.phase);
  const ways = WAYS_ON[from];
  const [to, setTo] = useState<Phase>(ways[0] ?? "archived");
  const place = draftPlace(looking, "note", from);
  const [note, setNote] = useKeptText(place);
  const isArchiving = to === "archived";
  const move = useWriteHere(
    looking,
    place,
    (body: Schemas["Move"], header) => {
      const params = { path: { board: looking.board }, header };
      if (body.targetPhase !== "archived") {
        const moved = client.POST("/api/whiteboards/{board}/transition", { params, body });
        return asked(moved).then(() => undefined);
      }
      const closing = body.note ? { note: body.note } : {};
      const archived = client.POST("/api/whiteboards/{board}/archive", { params, body: closing });
      return asked(archived).then(() => undefined);
    },
    (sent) => forgetSent<string>(place, (kept) => kept === sent.note),
  );
  const problem = move.error instanceof Problem ? move.error : undefined;
  // Somebody else, or the clock, was faster: what stands here is no longer true.
  const isLate = view.phase !== from && !move.isPending;
  return (
    <Confirm
      title={isArchiving ? "Archive the board" : "Move the board on"}
      action={isArchiving ? "Archive the board" : `Move on to ${phaseName(to).toLowerCase()}`}
      doing="Moving on…"
      isReady={!isLate}
      isBusy={move.isPending}
      error={move.error}
      onClose={onClose}
      onSure={() =>
        move.mutate(
          { targetPhase: to, ...(note.trim() !== "" && { note }) },
          { onSuccess: onClose },
        )
      }
    >
      {isLate && <Notice look="warn">The board is in its {view.phase} phase by now.</Notice>}
      {ways.length > 1 && <Ways from={from} ways={ways} to={to} onChoose={setTo} />}
      <Brings from={from} to={to} />
      {view.readyToAdvance === false && view.whyNot.length > 0 && !isLate && (
        <Notice look="warn">
          <p>You can move on, but this phase is not finished:</p>
          <WhyNot reasons={view.whyNot} shown={REASONS_SHOWN} />
        </Notice>
      )}
      <TextArea
        label={isArchiving ? "Note for the record (optional)" : "Note (optional)"}
        hint={isArchiving ? "Included in the decision record." : "Why now. Kept in the history."}
        rows={2}
        value={note}
        wrong={problem?.field("note")}
        onChange={(event) => setNote(event.target.value)}
      />
    </Confirm>
  );
}

interface WaysProps {
  from: Phase;
  ways: readonly Phase[];
  to: Phase;
  onChoose: (phase: Phase) => void;
}

function Ways({ from, ways, to, onChoose }: WaysProps) {
  const name = useId();
  return (
    <fieldset className="choices">
      <legend className="legend">To</legend>
      {ways.map((way) => {
        const left = skipped(from, way);
        return (
          <label key={way} className="choice">
            <input type="radio" name={name} checked={way === to} onChange={() => onChoose(way)} />
            <span>
              {phaseName(way)}{" "}
              <span className="muted small">
                {left
                  ? `A shortcut: skips ${phaseName(left).toLowerCase()}.`
                  : "The usual next phase."}
              </span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

function Brings({ from, to }: { from: Phase; to: Phase }) {
  const { view } = useBoardPage();
  const visible = becomesVisible(from, to, view.debateVisibility);
  const gone = ends(from, to);
  return (
    <div className="brings">
      <section>
        <h3>Becomes visible</h3>
        <ul>
          {visible.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </section>
      <section>
        <h3>What you can do then</h3>
        <p>{words(to, view.debateVisibility).does}</p>
      </section>
      <section>
        <h3>No longer possible</h3>
        {gone.length === 0 ? (
          <p>Nothing.</p>
        ) : (
          <ul>
            {gone.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}
