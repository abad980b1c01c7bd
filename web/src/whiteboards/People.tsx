// Who takes part, as what; and, where the server tells it, who has posted.

import { useState } from "react";
import type { Schemas } from "../api/client";
import { Button } from "../ui/Button";
import { Glyph, Icon } from "../ui/icons";
import { moment } from "../ui/time";
import { useBoardPage, type Agent } from "./board";
import { Invite } from "./Invite";
import { phaseName } from "./phases";
import { Shortened } from "./Shortened";
import { NO_SEAT, SeatLine, SeatOne, type NewSeat } from "./Seats";
import type { Role } from "./identity";

const ROLE_NAMES: Record<Role, string> = {
  specialist: "Specialist",
  facilitator: "Facilitator",
  operator: "Operator",
};

export function roleName(role: Role): string {
  return ROLE_NAMES[role];
}

/** A name in the ink of its role, with the role's drawing. */
export function Who({ name, small = true }: { name: string; small?: boolean }) {
  const { agentOf, view } = useBoardPage();
  const role = agentOf(name)?.role;
  return (
    <span className="who" data-role={role ?? "person"}>
      <Glyph role={role ?? "person"} small={small} />
      <span className="who-name">
        {name}
        {view.you?.agentName === name && <span className="you"> you</span>}
      </span>
      {role && <span className="unseen">, {roleName(role)}</span>}
    </span>
  );
}

const PEOPLE_SHOWN = 12;

export function People() {
  const { view, can } = useBoardPage();
  const [isInviting, setInviting] = useState(false);
  const [seating, setSeating] = useState<NewSeat>();
  // Where anybody may come in, the board's own address is enough.
  const canInvite =
    view.admission !== "open" &&
    view.you !== undefined &&
    view.you.role !== "specialist" &&
    view.phase !== "archived";
  const isPartial = view.phase === "blind" && view.hasPosted === undefined;
  return (
    <section className="card side-card" aria-labelledby="people-heading" id="people">
      <div className="side-head">
        <h2 id="people-heading">People and agents</h2>
        {!isPartial && <span className="muted small number">{view.agents.length}</span>}
      </div>
      <Shortened className="people" items={view.agents} shown={PEOPLE_SHOWN}>
        {(agent) => <Person key={agent.agentName} agent={agent} onSeat={setSeating} />}
      </Shortened>
      {isPartial && (
        <p className="muted small">
          {view.you
            ? "You see yourself and who opened the board. The others appear when the board moves to read."
            : "You see who opened the board. The others appear when the board moves to read."}
        </p>
      )}
      {(canInvite || can("seat")) && (
        <div className="row no-print">
          {canInvite && (
            <Button icon="link" onClick={() => setInviting(true)}>
              Invite…
            </Button>
          )}
          {can("seat") && (
            <Button icon="plus" onClick={() => setSeating(NO_SEAT)}>
              Seat a model…
            </Button>
          )}
        </div>
      )}
      {seating && <SeatOne seat={seating} onClose={() => setSeating(undefined)} />}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
      {view.hasPosted && (
        <p className="muted small">
          Only facilitators and operators see who has posted. No one sees what.
        </p>
      )}
    </section>
  );
}

function Person({ agent, onSeat }: { agent: Agent; onSeat: (seat: NewSeat) => void }) {
  const { view, can } = useBoardPage();
  const hasPosted = view.hasPosted?.includes(agent.agentName);
  const seat = view.seats?.find((one) => one.agentName === agent.agentName);
  return (
    <li data-role={agent.role} title={`Joined ${moment(agent.since)}`}>
      <Glyph role={agent.role} />
      <div className="person">
        <span className="who-name">
          {agent.agentName}
          {view.you?.agentName === agent.agentName && <span className="you"> you</span>}
        </span>
        <span className="muted small">
          {roleName(agent.role)}
          {agent.domain && ` · ${agent.domain}`}
        </span>
        {seat && <SeatLine seat={seat} />}
        {seat?.failure && can("seat") && (
          <button
            type="button"
            className="link-button small no-print"
            onClick={() => onSeat(seatAgain(seat))}
          >
            Ask again…<span className="unseen"> {seat.agentName}</span>
          </button>
        )}
      </div>
      {hasPosted !== undefined && (
        <span className={hasPosted ? "badge good" : "badge"}>
          {hasPosted && <Icon name="check" size={11} />}
          {hasPosted ? "has posted" : "not yet"}
        </span>
      )}
    </li>
  );
}

/** The same as it sat: a stored agent with all that it is, and not its model alone. */
function seatAgain({ agentName, agent, model }: Schemas["SeatView"]): NewSeat {
  return { name: agentName, model: agent === undefined ? model : `@${agent}` };
}

/** How the board came to where it is. */
export function Moves() {
  const { view } = useBoardPage();
  if (view.steps.length === 0) return null;
  return (
    <section className="card side-card" aria-labelledby="moves-heading">
      <h2 id="moves-heading">Phase history</h2>
      <ol className="moves">
        <li>
          <p>
            <strong>Opened</strong> by {view.openedBy}
          </p>
          <p className="muted small">{moment(view.openedAt)}</p>
        </li>
        {view.steps.map((step) => (
          <li key={step.to}>
            <p>
              <strong>{phaseName(step.to)}</strong> by {step.by ?? "the deadline"}
            </p>
            <p className="muted small">{moment(step.at)}</p>
            {step.note && <p className="move-note">{step.note}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
