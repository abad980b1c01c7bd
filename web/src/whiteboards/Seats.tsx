// Models and stored agents that take part by themselves: in the form that opens a board, on one
// that is open, and how it stands with each of them.

import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useModels } from "../api/known";
import { useEveryAgent } from "../library/useAgents";
import { toast } from "../ui/announce";
import { Button, IconButton } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { SelectField, TextField } from "../ui/Field";
import { ModelOptions } from "../ui/ModelSelect";
import { draftPlace, useBoardPage, useWriteHere } from "./board";
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
  const change = (index: number, to: Partial<NewSeat>) =>
    onChange(seats.map((seat, place) => (place === index ? { ...seat, ...to } : seat)));
  return (
    <details className="fold" open={seats.length > 0 || undefined}>
      <summary>Models and agents</summary>
      <p className="muted small">
        Specialists that take part automatically: they post, validate, debate and vote.
      </p>
      {seats.map((seat, index) => (
        <div className="new-seat" key={index} role="group" aria-label={`Seat ${index + 1}`}>
          <SeatFields
            seat={seat}
            wrong={(field) => problem?.field(`seats[${index}].${field}`)}
            onChange={(to) => change(index, to)}
          />
          <IconButton
            icon="trash"
            label={`Remove ${seat.name || `seat ${index + 1}`}`}
            onClick={() => onChange(seats.filter((_, place) => place !== index))}
          />
        </div>
      ))}
      {problem?.field("seats") && <p role="alert">Seats: {problem.field("seats")}.</p>}
      <Button icon="plus" onClick={() => onChange([...seats, NO_SEAT])}>
        Add a seat
      </Button>
    </details>
  );
}

interface FieldsProps {
  seat: NewSeat;
  wrong: (field: string) => string | undefined;
  onChange: (to: Partial<NewSeat>) => void;
}

function SeatFields({ seat, wrong, onChange }: FieldsProps) {
  const models = useModels().data ?? [];
  const agents = useEveryAgent().data ?? [];
  const isModel =
    seat.model !== "" && !seat.model.startsWith("@") && tierOf(seat.model) === undefined;
  return (
    <>
      <TextField
        label="Name"
        placeholder="skeptic"
        value={seat.name}
        wrong={nameProblem(seat.name.trim()) ?? wrong("name")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <SelectField
        label="Model or agent"
        value={seat.model}
        wrong={wrong("model") ?? wrong("agent")}
        onChange={(event) => onChange({ model: event.target.value })}
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
        <ModelOptions models={models} chosen={isModel ? seat.model : undefined} />
      </SelectField>
    </>
  );
}

export const NO_SEAT: NewSeat = { name: "", model: "" };

/** Seats one more on a board that is open, or asks one again who has failed. */
export function SeatOne({ seat: begun, onClose }: { seat: NewSeat; onClose: () => void }) {
  const { looking } = useBoardPage();
  const [seat, setSeat] = useState(begun);
  const isAgain = begun !== NO_SEAT;
  const seating = useWriteHere(
    looking,
    draftPlace(looking, "seat"),
    (body: Schemas["NewBoardSeat"], header) =>
      asked(
        client.POST("/api/whiteboards/{board}/seats", {
          params: { path: { board: looking.board }, header },
          body,
        }),
      ),
    ({ name }) => {
      toast(isAgain ? `${name} is asked again` : `${name} takes part`);
      onClose();
    },
  );
  const problem = seating.error instanceof Problem ? seating.error : undefined;
  const [wanted] = seatsOf([seat]);
  return (
    <Confirm
      title={isAgain ? `Ask ${begun.name} again` : "Seat a model or an agent"}
      action={isAgain ? "Ask again" : "Seat"}
      isReady={isSeated([seat])}
      isBusy={seating.isPending}
      error={seating.error}
      onClose={onClose}
      onSure={() => wanted && seating.mutate(wanted)}
    >
      {!isAgain && (
        <p className="muted small">It joins as a specialist and takes part automatically.</p>
      )}
      <SeatFields
        seat={seat}
        wrong={(field) => problem?.field(field)}
        onChange={(to) => setSeat({ ...seat, ...to })}
      />
    </Confirm>
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
