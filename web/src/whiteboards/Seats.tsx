// Models and stored agents that take part by themselves: in the form that opens a board, and
// how it stands with each of them.

import type { Problem, Schemas } from "../api/client";
import { useModels } from "../api/known";
import { ModelOptions } from "../library/ModelOptions";
import { useAgents } from "../library/useAgents";
import { Button, IconButton } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { nameProblem } from "./names";

export interface NewSeat {
  name: string;
  /** A model, a tier, or `@agent`; empty for whichever model is there. */
  model: string;
}

const TIERS = ["fast", "balanced", "strong"] as const;

function tierOf(chosen: string): Schemas["TierName"] | undefined {
  return TIERS.find((tier) => tier === chosen);
}

/** What is sent of them. */
export function seatsOf(seats: readonly NewSeat[]): Schemas["NewBoardSeat"][] {
  return seats.map(({ name, model }) => {
    const tier = tierOf(model);
    const chosen = tier === undefined ? { model } : { tier };
    return { name: name.trim(), ...(model !== "" && chosen) };
  });
}

export function isSeated(seats: readonly NewSeat[]): boolean {
  return seats.every(({ name }) => name.trim() !== "" && nameProblem(name.trim()) === undefined);
}

interface Props {
  seats: readonly NewSeat[];
  problem: Problem | undefined;
  onChange: (seats: NewSeat[]) => void;
}

export function SeatsEditor({ seats, problem, onChange }: Props) {
  const models = useModels().data ?? [];
  const agents = useAgents({}).data?.pages.flatMap((page) => page.data) ?? [];
  const change = (index: number, to: Partial<NewSeat>) =>
    onChange(seats.map((seat, place) => (place === index ? { ...seat, ...to } : seat)));
  const isModel = (chosen: string) =>
    chosen !== "" && !chosen.startsWith("@") && tierOf(chosen) === undefined;
  return (
    <details className="fold" open={seats.length > 0 || undefined}>
      <summary>Models and agents</summary>
      <p className="muted small">
        Specialists that take part automatically: they post, validate, debate and vote.
      </p>
      {seats.map((seat, index) => {
        const wrong = (field: string) => problem?.field(`seats[${index}].${field}`);
        return (
          <div className="new-seat" key={index} role="group" aria-label={`Seat ${index + 1}`}>
            <TextField
              label="Name"
              placeholder="sceptic"
              value={seat.name}
              wrong={nameProblem(seat.name.trim()) ?? wrong("name")}
              onChange={(event) => change(index, { name: event.target.value })}
            />
            <SelectField
              label="Model or agent"
              value={seat.model}
              wrong={wrong("model") ?? wrong("agent")}
              onChange={(event) => change(index, { model: event.target.value })}
            >
              <option value="">Any model</option>
              <optgroup label="A tier">
                {TIERS.map((tier) => (
                  <option key={tier}>{tier}</option>
                ))}
              </optgroup>
              <optgroup label="Agents">
                {agents.map((agent) => (
                  <option key={agent.id} value={`@${agent.id}`}>
                    {agent.name}
                  </option>
                ))}
              </optgroup>
              <ModelOptions models={models} chosen={isModel(seat.model) ? seat.model : undefined} />
            </SelectField>
            <IconButton
              icon="trash"
              label={`Remove ${seat.name || `seat ${index + 1}`}`}
              onClick={() => onChange(seats.filter((_, place) => place !== index))}
            />
          </div>
        );
      })}
      {problem?.field("seats") && <p role="alert">Seats: {problem.field("seats")}.</p>}
      <Button icon="plus" onClick={() => onChange([...seats, { name: "", model: "" }])}>
        Add a seat
      </Button>
    </details>
  );
}

const STATUSES: Record<Schemas["SeatStatus"], string | undefined> = {
  waiting: undefined,
  asked: "answering…",
  done: "answered",
  failed: "failed",
  stopped: "stopped",
};

/** By which model somebody takes part, and how it stands. */
export function SeatLine({ seat }: { seat: Schemas["SeatView"] }) {
  const status = seat.status && STATUSES[seat.status];
  return (
    <span className="muted small seat-line" data-status={seat.status}>
      {seat.agent !== undefined && `@${seat.agent} · `}
      {seat.model}
      {status !== undefined && ` · ${status}`}
      {seat.failure && <span role="note"> {seat.failure.message}</span>}
    </span>
  );
}
