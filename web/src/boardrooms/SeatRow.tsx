import { useState, type InputHTMLAttributes } from "react";
import type { Problem, Schemas } from "../api/client";
import { useEveryAgent } from "../library/useAgents";
import { Button, IconButton } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Glyph, inRole } from "../ui/icons";
import { ModelSelect, shortModel } from "../ui/ModelSelect";
import type { RoleName } from "./board";
import type { OwnRole, Seat } from "./setup";

interface Props {
  seat: Seat;
  place: number;
  last: number;
  roles: readonly Schemas["RoleView"][];
  /** The model that it gets when none is chosen. */
  inTurn: string;
  /** Absent where a person sits. */
  problem?: Problem | undefined;
  /** How the server calls the seats: `advisors`, or `seats` of a saved board. */
  field: string;
  onChange: (change: Partial<Seat>) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

const OWN = "own";
const KINDS = [
  ["model", "Model"],
  ["agent", "Agent"],
  ["person", "Person"],
] as const;
const NEW_ROLE: OwnRole = { name: "", colour: "#00897b", glyph: "", initials: "" };

/** One advisor of a board that is being set up. What is rarely changed is folded away. */
export function SeatRow(props: Props) {
  const { seat, place, last, roles, field, problem, onChange, onMove, onRemove } = props;
  const { own } = seat;
  const [isMore, setMore] = useState(hasMore(seat));
  const role = own?.name || roles.find((one) => one.id === seat.role)?.name;
  const number = place + 1;
  const wrong = (name: string) => problem?.field(`${field}[${place}].${name}`);
  return (
    <li
      className="seat"
      {...inRole(seat.role, own)}
      aria-label={`Advisor ${number}, ${role ?? seat.role}`}
    >
      <Glyph
        role={seat.role}
        own={own && { ...own, initials: own.initials || own.name.slice(0, 2) }}
      />
      <div className="seat-role">
        <SelectField
          label={`Role of advisor ${number}`}
          labelUnseen
          value={own ? OWN : seat.role}
          wrong={own ? undefined : wrong("role")}
          onChange={({ target }) =>
            target.value === OWN
              ? onChange({ own: NEW_ROLE })
              : onChange({ own: undefined, role: target.value as RoleName })
          }
          options={[...roles.map(({ id, name }) => [id, name] as const), [OWN, "Custom role…"]]}
        />
        {own && (
          <TextField
            label={`Name of the custom role of advisor ${number}`}
            labelUnseen
            placeholder="Compliance officer"
            value={own.name}
            wrong={wrong("role")}
            onChange={(event) => onChange({ own: { ...own, name: event.target.value } })}
          />
        )}
      </div>
      <SelectField
        label={`Who is advisor ${number}`}
        labelUnseen
        value={seat.kind}
        options={KINDS}
        onChange={(event) => onChange({ kind: event.target.value as Seat["kind"] })}
      />
      <Who {...props} wrong={wrong} />
      <div className="seat-tools">
        <Button look="quiet" aria-expanded={isMore} onClick={() => setMore(!isMore)}>
          More<span className="unseen"> for advisor {number}</span>
        </Button>
        <IconButton
          icon="up"
          label={`Move advisor ${number} up`}
          disabled={place === 0}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon="down"
          label={`Move advisor ${number} down`}
          disabled={place === last}
          onClick={() => onMove(1)}
        />
        <IconButton
          icon="close"
          label={`Remove advisor ${number}`}
          disabled={last === 0}
          onClick={onRemove}
        />
      </div>
      {isMore && <More {...props} wrong={wrong} />}
    </li>
  );
}

function hasMore({ systemPrompt, temperature, outputTokens, tries }: Seat): boolean {
  return [systemPrompt, temperature, outputTokens, tries].some((one) => one);
}

type PartProps = Props & { wrong: (name: string) => string | undefined };

/** The model, the agent or the person who sits there. */
function Who({ seat, place, inTurn, wrong, onChange }: PartProps) {
  const number = place + 1;
  if (seat.kind === "person") {
    return (
      <div className="seat-who person">
        <TextField
          label={`Name of advisor ${number}`}
          labelUnseen
          placeholder="Name"
          value={seat.person}
          wrong={wrong("person")}
          onChange={(event) => onChange({ person: event.target.value })}
        />
        <TextField
          label={`Minutes that advisor ${number} has`}
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
    );
  }
  const usual = inTurn === "" ? "Any model" : `Automatic (${shortModel(inTurn)})`;
  return (
    <div className="seat-who">
      {seat.kind === "agent" && <AgentSelect {...{ seat, number, wrong, onChange }} />}
      <ModelSelect
        label={`Model of advisor ${number}`}
        labelUnseen
        tiers
        value={seat.model}
        wrong={wrong("model") ?? wrong("tier")}
        none={seat.kind === "agent" ? "The agent’s model" : usual}
        onChoose={(model) => onChange({ model })}
      />
    </div>
  );
}

interface AgentProps extends Pick<PartProps, "seat" | "wrong" | "onChange"> {
  number: number;
}

function AgentSelect({ seat, number, wrong, onChange }: AgentProps) {
  const agents = useEveryAgent().data ?? [];
  return (
    <SelectField
      label={`Agent of advisor ${number}`}
      labelUnseen
      value={seat.agent ?? ""}
      wrong={wrong("agent")}
      options={agents.map(({ id, name }) => [id, name])}
      onChange={(event) => onChange({ agent: event.target.value })}
    >
      <option value="" disabled>
        Choose an agent
      </option>
    </SelectField>
  );
}

function More({ seat, place, roles, wrong, onChange }: PartProps) {
  const { own } = seat;
  const role = roles.find((one) => one.id === seat.role);
  const of = ` of advisor ${place + 1}`;
  const named = (words: string) => ({ label: words, "aria-label": words + of });
  const number = (
    name: "tries" | "temperature" | "outputTokens",
    words: string,
    rest: InputHTMLAttributes<HTMLInputElement>,
  ) => (
    <TextField
      {...named(words)}
      type="number"
      value={seat[name] ?? ""}
      wrong={wrong(name)}
      onChange={(event) => onChange({ [name]: event.target.value })}
      {...rest}
    />
  );
  const look = (
    name: "initials" | "glyph" | "colour",
    words: string,
    rest: InputHTMLAttributes<HTMLInputElement>,
  ) =>
    own && (
      <TextField
        {...named(words)}
        value={own[name]}
        wrong={wrong(name)}
        onChange={(event) => onChange({ own: { ...own, [name]: event.target.value } })}
        {...rest}
      />
    );
  return (
    <div className="seat-more">
      <TextArea
        {...named("System prompt")}
        rows={3}
        placeholder={own ? "What this role looks for" : role?.systemPrompt}
        hint={
          own ? undefined : `If left empty, the ${role?.name ?? "role"}’s usual prompt is used.`
        }
        value={seat.systemPrompt}
        wrong={wrong("systemPrompt")}
        onChange={(event) => onChange({ systemPrompt: event.target.value })}
      />
      <div className="seat-numbers">
        {seat.kind !== "person" && (
          <>
            {number("tries", "Answers at once", { min: 1, max: 8, placeholder: "1" })}
            {number("temperature", "Temperature", {
              min: 0,
              max: 2,
              step: 0.1,
              placeholder: "Default",
            })}
            {number("outputTokens", "Tokens per answer", { min: 16, placeholder: "No limit" })}
          </>
        )}
        {look("initials", "Initials", { maxLength: 2, placeholder: "Automatic" })}
        {look("glyph", "Symbol", { maxLength: 4, placeholder: "Initials" })}
        {look("colour", "Colour", { type: "color" })}
      </div>
    </div>
  );
}
