// Who leads: a facilitator that ships with Plenary, one of one's own, any other agent, or a
// person.

import { useState } from "react";
import { createPortal } from "react-dom";
import { AgentForm } from "../library/AgentForm";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { ModelSelect } from "../ui/ModelSelect";
import { useEveryAgent, type Agent } from "../library/useAgents";
import { Deadline } from "./Deadline";
import type { LeaderDraft, Wrongs } from "./draft";
import { FORMATS, TIERS, type Format } from "./words";

interface Props {
  leader: LeaderDraft;
  format: Format;
  wrongs: Wrongs;
  onChange: (leader: LeaderDraft) => void;
}

export function FacilitatorPicker({ leader, format, wrongs, onChange }: Props) {
  const agents = useEveryAgent().data ?? [];
  const [isNew, setNew] = useState(false);
  const facilitators = agents.filter((agent) => agent.isFacilitator);
  const suits = (agent: Agent) => agent.formats.includes(format);
  const builtIn = facilitators.filter((agent) => agent.isBuiltIn);
  const groups = [
    {
      title: "Built-in",
      agents: [...builtIn.filter(suits), ...builtIn.filter((one) => !suits(one))],
    },
    { title: "Yours", agents: facilitators.filter((agent) => !agent.isBuiltIn) },
  ];
  const choose = (agentId: string) =>
    onChange({ kind: "agent", agentId, name: "", choice: leader.choice });
  const wrong = wrongs.get("moderatorId") ?? wrongs.get("facilitator");
  return (
    <fieldset className="choices">
      <div className="choices-head">
        <legend className="legend">Facilitator</legend>
        <Button look="quiet" icon="plus" onClick={() => setNew(true)}>
          New facilitator
        </Button>
      </div>
      {groups.map(
        (group) =>
          group.agents.length > 0 && (
            <div key={group.title} role="group" aria-label={`${group.title} facilitators`}>
              <p className="group-title">{group.title}</p>
              <div className="facilitator-cards">
                {group.agents.map((agent) => (
                  <FacilitatorCard
                    key={agent.id}
                    agent={agent}
                    suits={suits(agent)}
                    isChosen={leader.kind === "agent" && leader.agentId === agent.id}
                    onChoose={() => choose(agent.id)}
                  />
                ))}
              </div>
            </div>
          ),
      )}
      <Others
        agents={agents.filter((agent) => !agent.isFacilitator)}
        leader={leader}
        onChoose={choose}
      />
      <PersonLeads leader={leader} wrongs={wrongs} onChange={onChange} />
      {wrong !== undefined && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
      {leader.kind === "agent" && (
        <ModelSelect
          label="Model of the facilitator"
          value={leader.choice}
          none={own(agents.find((agent) => agent.id === leader.agentId))}
          wrong={wrongs.get("facilitator.model") ?? wrongs.get("facilitator.tier")}
          prefix="model:"
          tiers
          onChoose={(choice) => onChange({ ...leader, choice })}
        />
      )}
      {isNew &&
        // A form of its own, which must not stand inside the one around this.
        createPortal(
          <AgentForm
            start={{ from: "nothing", isFacilitator: true }}
            onClose={() => setNew(false)}
            onSaved={(agent) => {
              setNew(false);
              choose(agent.id);
            }}
          />,
          document.body,
        )}
    </fieldset>
  );
}

function own(agent: Agent | undefined): string {
  if (agent?.model !== undefined) return agent.model;
  return agent?.tier === undefined ? "Any model" : `${TIERS[agent.tier]} model`;
}

function FacilitatorCard({
  agent,
  suits,
  isChosen,
  onChoose,
}: {
  agent: Agent;
  suits: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <label className="choice-card" data-suits={suits || undefined}>
      <input type="radio" name="facilitator" checked={isChosen} onChange={onChoose} />
      <span className="choice-name">{agent.name}</span>
      <span className="choice-text">{agent.description}</span>
      <span className="choice-note">
        {agent.formats.length > 0 &&
          `Best for ${agent.formats.map((one) => FORMATS[one].toLowerCase()).join(", ")}`}
        {agent.formats.length > 0 && (agent.tier ?? agent.model) !== undefined && " · "}
        {agent.tier ? `${TIERS[agent.tier]} model` : agent.model}
      </span>
    </label>
  );
}

function Others({
  agents,
  leader,
  onChoose,
}: {
  agents: Agent[];
  leader: LeaderDraft;
  onChoose: (id: string) => void;
}) {
  const isHere = leader.kind === "agent" && agents.some((agent) => agent.id === leader.agentId);
  return (
    <details className="more-choices" open={isHere || undefined}>
      <summary>Any other agent</summary>
      <div className="facilitator-cards">
        {agents.map((agent) => (
          <FacilitatorCard
            key={agent.id}
            agent={agent}
            suits={false}
            isChosen={leader.kind === "agent" && leader.agentId === agent.id}
            onChoose={() => onChoose(agent.id)}
          />
        ))}
      </div>
    </details>
  );
}

function PersonLeads({ leader, wrongs, onChange }: Omit<Props, "format">) {
  const isPerson = leader.kind === "person";
  return (
    <>
      <label className="choice-card across">
        <input
          type="radio"
          name="facilitator"
          checked={isPerson}
          onChange={() => onChange({ kind: "person", name: leader.name, choice: "" })}
        />
        <span className="choice-name">
          <Icon name="person" /> A person leads
        </span>
        <span className="choice-text">
          Decides on this page who speaks next and what they are asked, and writes the conclusion.
        </span>
      </label>
      {isPerson && (
        <div className="field-row">
          <TextField
            label="Facilitator’s name"
            value={leader.name}
            maxLength={120}
            wrong={wrongs.get("facilitator.person") ?? wrongs.get("facilitator.name")}
            onChange={(event) => onChange({ ...leader, name: event.target.value })}
          />
          <Deadline
            seconds={leader.replyWithinSeconds}
            onChange={({ replyWithinSeconds }) =>
              onChange({
                kind: "person",
                name: leader.name,
                choice: "",
                ...(replyWithinSeconds !== undefined && { replyWithinSeconds }),
              })
            }
          />
        </div>
      )}
    </>
  );
}
