import { useState } from "react";
import type { Schemas } from "../api/client";
import type { Problem } from "../api/client";
import { Button, IconButton } from "../ui/Button";
import { GrowingArea, SelectField, TextField } from "../ui/Field";
import { Glyph } from "../ui/icons";
import { shortModel, type RoleName } from "./board";
import { ModelSelect } from "./ModelSelect";
import type { Seat } from "./setup";

interface Props {
  seat: Seat;
  place: number;
  last: number;
  roles: readonly Schemas["RoleView"][];
  /** The model that it gets when none is chosen. */
  inTurn: string;
  /** Absent where a person sits. */
  problem?: Problem | undefined;
  onChange: (change: Partial<Seat>) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

/** One advisor of a board that is being set up. */
export function SeatRow({
  seat,
  place,
  last,
  roles,
  inTurn,
  problem,
  onChange,
  onMove,
  onRemove,
}: Props) {
  const [isOwn, setOwn] = useState(seat.systemPrompt !== "");
  const role = roles.find((one) => one.id === seat.role);
  const who = `Advisor ${place + 1}`;
  const wrong = (field: string) => problem?.field(`advisors[${place}].${field}`);
  return (
    <li className="seat" data-role={seat.role} aria-label={who}>
      <Glyph role={seat.role} />
      <SelectField
        label={`Role of advisor ${place + 1}`}
        labelUnseen
        value={seat.role}
        wrong={wrong("role")}
        onChange={(event) => onChange({ role: event.target.value as RoleName })}
      >
        {roles.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={`Who is advisor ${place + 1}`}
        labelUnseen
        value={seat.kind}
        onChange={(event) => onChange({ kind: event.target.value as Seat["kind"] })}
      >
        <option value="model">Model</option>
        <option value="person">Person</option>
      </SelectField>
      {seat.kind === "model" ? (
        <div className="seat-who">
          <ModelSelect
            label={`Model of advisor ${place + 1}`}
            labelUnseen
            value={seat.model}
            wrong={wrong("model")}
            none={inTurn === "" ? "Any model" : `Automatic (${shortModel(inTurn)})`}
            onChoose={(model) => onChange({ model })}
          />
        </div>
      ) : (
        <div className="seat-who person">
          <TextField
            label={`Name of advisor ${place + 1}`}
            labelUnseen
            placeholder="Name"
            value={seat.person}
            wrong={wrong("person")}
            onChange={(event) => onChange({ person: event.target.value })}
          />
          <TextField
            label={`Minutes that advisor ${place + 1} has`}
            labelUnseen
            placeholder="No deadline"
            inputMode="decimal"
            type="number"
            min="0.5"
            step="0.5"
            title="Minutes to answer. Leave it empty to wait as long as it takes."
            value={seat.minutes}
            wrong={wrong("replyWithinSeconds") ?? wrong("replyBy")}
            onChange={(event) => onChange({ minutes: event.target.value })}
          />
          <span className="muted small">min</span>
        </div>
      )}
      <div className="seat-tools">
        <Button look="quiet" aria-expanded={isOwn} onClick={() => setOwn(!isOwn)}>
          Prompt
        </Button>
        <IconButton
          icon="up"
          label={`Move advisor ${place + 1} up`}
          disabled={place === 0}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon="down"
          label={`Move advisor ${place + 1} down`}
          disabled={place === last}
          onClick={() => onMove(1)}
        />
        <IconButton
          icon="close"
          label={`Remove advisor ${place + 1}`}
          disabled={last === 0}
          onClick={onRemove}
        />
      </div>
      {isOwn && (
        <div className="seat-prompt">
          <GrowingArea
            className="input"
            aria-label={`System prompt of advisor ${place + 1}`}
            rows={3}
            placeholder={role?.systemPrompt}
            value={seat.systemPrompt}
            onChange={(event) => onChange({ systemPrompt: event.target.value })}
          />
          <p className="muted small">
            If left empty, the {role?.name ?? "role"}&rsquo;s usual prompt is used.
          </p>
          {wrong("systemPrompt") && <p className="seat-wrong">{wrong("systemPrompt")}</p>}
        </div>
      )}
    </li>
  );
}
