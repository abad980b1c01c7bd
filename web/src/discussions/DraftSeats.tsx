// Who leads a draft and who takes part. Each change is made at once.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { Button, IconButton } from "../ui/Button";
import { Glyph } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { shortModel } from "../ui/ModelSelect";
import { AddSeat } from "./AddSeat";
import { useEveryAgent } from "../library/useAgents";
import { leaderBody, seatBody, type LeaderDraft, type SeatDraft, type Wrongs } from "./draft";
import { FacilitatorPicker } from "./FacilitatorPicker";
import { roleName, type Seat, type View } from "./words";

const NONE: Wrongs = new Map();

export function DraftSeats({ view }: { view: View }) {
  const { id } = view;
  const queries = useQueryClient();
  const agents = useEveryAgent().data ?? [];
  const path = { id };
  const renew = () => queries.invalidateQueries({ queryKey: ["discussions", id] });
  const change = useWrite(
    (what: { add: SeatDraft } | { remove: string }, header) =>
      "add" in what
        ? asked(
            client.POST("/api/discussions/{id}/participants", {
              params: { path, header },
              body: seatBody(what.add),
            }),
          )
        : asked(
            client.DELETE("/api/discussions/{id}/participants/{participant}", {
              params: { path: { id, participant: what.remove }, header },
            }),
          ),
    { onSent: renew, onError: renew },
  );
  return (
    <section className="card stack" aria-label="Who is here">
      <h2>Who is here</h2>
      <ul className="seats large">
        <li data-role="moderator">
          <SeatFace seat={view.moderator} role="moderator" />
          <Leader view={view} />
        </li>
        {view.participants.map((seat) => (
          <li key={seat.id} data-role={seat.role}>
            <SeatFace seat={seat} role={seat.role ?? "participant"} />
            <IconButton
              icon="close"
              label={`Remove ${seat.name}`}
              disabled={change.isPending}
              onClick={() => change.mutate({ remove: seat.id })}
            />
          </li>
        ))}
      </ul>
      <Wrong error={change.error} />
      <AddSeat
        agents={agents}
        taken={[view.moderator, ...view.participants].map((seat) => seat.name)}
        withRole
        onAdd={(seat) => change.mutate({ add: seat })}
      />
    </section>
  );
}

function SeatFace({ seat, role }: { seat: Seat; role: string }) {
  return (
    <>
      <Glyph role={seat.person ? "person" : role} />
      <span className="seat-who">
        <span className="seat-name">{seat.name}</span>
        <span className="muted small">{seat.description}</span>
      </span>
      <span className="badge role">{roleName(role)}</span>
      <span className="mono">
        {seat.person ? "person" : seat.model !== undefined && shortModel(seat.model)}
      </span>
    </>
  );
}

/** Another facilitator, chosen like the first. */
function Leader({ view }: { view: View }) {
  const { id } = view;
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<LeaderDraft>();
  const changing = useWrite(
    (leader: LeaderDraft, header) =>
      asked(
        client.PATCH("/api/discussions/{id}/moderator", {
          params: { path: { id }, header },
          body: leaderBody(leader),
        }),
      ),
    {
      onSent: async () => {
        await queries.invalidateQueries({ queryKey: ["discussions", id] });
        setChosen(undefined);
      },
    },
  );
  if (!chosen) {
    const { moderator, moderatorId } = view;
    const now: LeaderDraft = moderator.person
      ? { kind: "person", name: moderator.name, choice: "" }
      : { kind: "agent", agentId: moderatorId, name: "", choice: "" };
    return (
      <Button icon="edit" onClick={() => setChosen(now)}>
        Change facilitator
      </Button>
    );
  }
  return (
    <div className="change-leader stack">
      <FacilitatorPicker leader={chosen} format={view.format} wrongs={NONE} onChange={setChosen} />
      <Wrong error={changing.error} />
      <div className="row">
        <Button
          look="primary"
          disabled={changing.isPending}
          onClick={() => changing.mutate(chosen)}
        >
          Make facilitator
        </Button>
        <Button onClick={() => setChosen(undefined)}>Cancel</Button>
      </div>
    </div>
  );
}
