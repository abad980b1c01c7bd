import { useState, type KeyboardEvent } from "react";
import { Button } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { isComposing } from "../ui/keys";
import { Tabs } from "../ui/Tabs";
import type { Agent } from "./data";
import { Deadline } from "./Deadline";
import { agentSeat, type Choice, type SeatDraft } from "./draft";
import { ModelSelect } from "./ModelSelect";
import { roleName, SEAT_ROLES, type Role } from "./words";

interface Props {
  agents: readonly Agent[];
  /** Names that cannot be used again. */
  taken: readonly string[];
  /** Asks for the role too, where it cannot be changed afterwards. */
  withRole?: boolean;
  onAdd: (seat: SeatDraft) => void;
}

type Kind = SeatDraft["kind"];

const KINDS: readonly { name: Kind; title: string }[] = [
  { name: "agent", title: "Agent" },
  { name: "model", title: "Model" },
  { name: "person", title: "Person" },
];

export function AddSeat({ agents, taken, withRole = false, onAdd }: Props) {
  const [kind, setKind] = useState<Kind>("agent");
  const [role, setRole] = useState<Role>("participant");
  const add = (seat: SeatDraft) => onAdd({ ...seat, role });
  const names = taken.map((name) => name.toLowerCase());
  const isTaken = (name: string) => names.includes(name.trim().toLowerCase());
  return (
    <div className="add-seat stack" role="group" aria-label="Add a participant">
      <p className="legend">Add a participant</p>
      {withRole && (
        <SelectField
          label="Add as"
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
        >
          {SEAT_ROLES.map((one) => (
            <option key={one} value={one}>
              {roleName(one)}
            </option>
          ))}
        </SelectField>
      )}
      <Tabs label="Kind of seat" tabs={KINDS} chosen={kind} onChoose={setKind}>
        {kind === "agent" && <AddAgent agents={agents} isTaken={isTaken} onAdd={add} />}
        {kind === "model" && <AddModel isTaken={isTaken} onAdd={add} />}
        {kind === "person" && <AddPerson isTaken={isTaken} onAdd={add} />}
      </Tabs>
    </div>
  );
}

interface AddProps {
  isTaken: (name: string) => boolean;
  onAdd: (seat: SeatDraft) => void;
}

const MANY = 12;

function AddAgent({ agents, isTaken, onAdd }: AddProps & { agents: readonly Agent[] }) {
  const [words, setWords] = useState("");
  const free = agents.filter((agent) => !isTaken(agent.name));
  const sought = words.trim().toLowerCase();
  const found = free.filter((agent) =>
    sought === ""
      ? !agent.isFacilitator
      : `${agent.name} ${agent.description}`.toLowerCase().includes(sought),
  );
  return (
    <div className="stack">
      {free.length > MANY && (
        <TextField
          label="Find an agent"
          labelUnseen
          type="search"
          placeholder="Find an agent"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.preventDefault();
          }}
        />
      )}
      <ul className="agent-chips" aria-label="Agents to add">
        {found.map((agent) => (
          <li key={agent.id}>
            <button type="button" className="agent-chip" onClick={() => onAdd(agentSeat(agent.id))}>
              <Icon name="plus" />
              <span className="unseen">Add </span>
              <span className="seat-who">
                <span className="seat-name">{agent.name}</span>
                <span className="muted small">{agent.description}</span>
              </span>
            </button>
          </li>
        ))}
        {found.length === 0 && <li className="muted small">No one left to add.</li>}
      </ul>
    </div>
  );
}

function AddModel({ isTaken, onAdd }: AddProps) {
  const [name, setName] = useState("");
  const [persona, setPersona] = useState("");
  const [choice, setChoice] = useState<Choice>("");
  const add = () => {
    if (name.trim() === "" || isTaken(name)) return;
    onAdd({
      key: newKey(),
      kind: "model",
      name: name.trim(),
      persona,
      choice,
      role: "participant",
    });
    setName("");
    setPersona("");
  };
  return (
    <div className="stack">
      <div className="field-row">
        <TextField
          label="Name"
          placeholder="Operations"
          maxLength={120}
          value={name}
          wrong={isTaken(name) ? "This name is already taken." : undefined}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => onEnter(event, add)}
        />
        <ModelSelect label="Model" value={choice} usual="Any model" onChange={setChoice} />
      </div>
      <TextArea
        label="Persona (optional)"
        placeholder="You carry the pager."
        rows={2}
        value={persona}
        onChange={(event) => setPersona(event.target.value)}
      />
      <AddButton isDisabled={name.trim() === "" || isTaken(name)} onAdd={add}>
        Add model
      </AddButton>
    </div>
  );
}

function AddPerson({ isTaken, onAdd }: AddProps) {
  const [name, setName] = useState("");
  const [time, setTime] = useState<{ replyWithinSeconds?: number }>({});
  const add = () => {
    if (name.trim() === "" || isTaken(name)) return;
    const seat = {
      name: name.trim(),
      persona: "",
      choice: "",
      role: "participant",
      ...time,
    } as const;
    onAdd({ key: newKey(), kind: "person", ...seat });
    setName("");
  };
  return (
    <div className="stack">
      <div className="field-row">
        <TextField
          label="Name"
          placeholder="Ada"
          maxLength={120}
          value={name}
          wrong={isTaken(name) ? "This name is already taken." : undefined}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => onEnter(event, add)}
        />
        <Deadline seconds={time.replyWithinSeconds} onChange={setTime} />
      </div>
      <AddButton isDisabled={name.trim() === "" || isTaken(name)} onAdd={add}>
        Add person
      </AddButton>
    </div>
  );
}

function AddButton({
  isDisabled,
  onAdd,
  children,
}: {
  isDisabled: boolean;
  onAdd: () => void;
  children: string;
}) {
  return (
    <div>
      <Button icon="plus" disabled={isDisabled} onClick={onAdd}>
        {children}
      </Button>
    </div>
  );
}

/** Enter adds, and does not send the form around it. */
function onEnter(event: KeyboardEvent, run: () => void): void {
  if (event.key !== "Enter" || isComposing(event)) return;
  event.preventDefault();
  run();
}

let keys = 0;

function newKey(): string {
  keys += 1;
  return `${Date.now()}-${keys}`;
}
