import { useState, type KeyboardEvent } from "react";
import { Button } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { isComposing } from "../ui/keys";
import { Tabs } from "../ui/Tabs";
import { ModelSelect } from "../ui/ModelSelect";
import type { Agent } from "../library/useAgents";
import { Deadline } from "./Deadline";
import { agentSeat, type Choice, type SeatDraft } from "./draft";
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
          options={SEAT_ROLES.map((one) => [one, roleName(one)])}
        />
      )}
      <Tabs label="Kind of seat" tabs={KINDS} chosen={kind} onChoose={setKind}>
        {kind === "agent" ? (
          <AddAgent agents={agents} isTaken={isTaken} onAdd={add} />
        ) : (
          <AddNamed key={kind} kind={kind} isTaken={isTaken} onAdd={add} />
        )}
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

/** A model or a person, by a name. */
function AddNamed({ kind, isTaken, onAdd }: AddProps & { kind: "model" | "person" }) {
  const [name, setName] = useState("");
  const [persona, setPersona] = useState("");
  const [choice, setChoice] = useState<Choice>("");
  const [time, setTime] = useState<{ replyWithinSeconds?: number }>({});
  const isModel = kind === "model";
  const isFree = name.trim() !== "" && !isTaken(name);
  const add = () => {
    if (!isFree) return;
    const own = isModel ? { persona, choice } : { persona: "", choice: "" as const, ...time };
    onAdd({ key: newKey(), kind, name: name.trim(), role: "participant", ...own });
    setName("");
    setPersona("");
  };
  return (
    <div className="stack">
      <div className="field-row">
        <TextField
          label="Name"
          placeholder={isModel ? "Operations" : "Ada"}
          maxLength={120}
          value={name}
          wrong={isTaken(name) ? "This name is already taken." : undefined}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => onEnter(event, add)}
        />
        {isModel ? (
          <ModelSelect
            label="Model"
            value={choice}
            none="Any model"
            prefix="model:"
            tiers
            onChoose={setChoice}
          />
        ) : (
          <Deadline seconds={time.replyWithinSeconds} onChange={setTime} />
        )}
      </div>
      {isModel && (
        <TextArea
          label="Persona (optional)"
          placeholder="You carry the pager."
          rows={2}
          value={persona}
          onChange={(event) => setPersona(event.target.value)}
        />
      )}
      <div>
        <Button icon="plus" disabled={!isFree} onClick={add}>
          Add {kind}
        </Button>
      </div>
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
