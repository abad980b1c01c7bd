import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "../api/client";
import { fetchAgent, useEveryAgent } from "../library/useAgents";
import { useModels, useTiers } from "../api/known";
import { Button, IconButton } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { ModelSelect } from "../ui/ModelSelect";
import { Wrong } from "../ui/Notice";
import { nameProblem } from "../whiteboards/names";
import { memberName, modelOf, NOBODY, type NewMember } from "./newCouncil";

interface Props {
  legend?: string;
  /** The field of the request, by which problems name it. */
  field?: string;
  members: NewMember[];
  problem: Problem | undefined;
  onChange: (members: NewMember[]) => void;
}

export function MembersEditor(props: Props) {
  const { legend = "Members", field = "members", members, problem, onChange } = props;
  const change = (index: number, to: Partial<NewMember>) =>
    onChange(members.map((member, place) => (place === index ? { ...member, ...to } : member)));
  return (
    <fieldset className="new-members">
      <legend className="legend">{legend}</legend>
      <p className="muted small">
        Members with a model answer posts automatically. People and outside agents post for
        themselves.
      </p>
      {members.map((member, index) => {
        const wrong = (part: string) => problem?.field(`${field}[${index}].${part}`);
        return (
          <div className="new-member" key={index} role="group" aria-label={`Member ${index + 1}`}>
            <TextField
              label="Name"
              value={member.name}
              wrong={nameProblem(member.name.trim()) ?? wrong("name")}
              placeholder="Skeptic"
              onChange={(event) => change(index, { name: event.target.value })}
            />
            <ModelSelect
              label="Model"
              value={member.model}
              none="None: a person or outside agent"
              wrong={wrong("model")}
              onChoose={(model) => change(index, { model })}
            />
            <IconButton
              icon="trash"
              label={`Remove ${member.name || `member ${index + 1}`}`}
              onClick={() => onChange(members.filter((_, place) => place !== index))}
            />
            <details open={wrong("persona") !== undefined || undefined}>
              <summary>
                Persona{member.persona === "" ? "" : `, ${member.persona.length} characters`}
              </summary>
              <TextArea
                label="Persona"
                labelUnseen
                hint="Who this member is. Sent to the model."
                rows={4}
                value={member.persona}
                wrong={wrong("persona")}
                onChange={(event) => change(index, { persona: event.target.value })}
              />
            </details>
          </div>
        );
      })}
      {problem?.field(field) && <p role="alert">Members: {problem.field(field)}.</p>}
      <AddMember onAdd={(member) => onChange([...members, member])} />
    </fieldset>
  );
}

function AddMember({ onAdd }: { onAdd: (member: NewMember) => void }) {
  const queries = useQueryClient();
  const every = useEveryAgent();
  const agents = every.data ?? [];
  const tiers = useTiers().data ?? [];
  const models = useModels().data ?? [];
  const [chosen, setChosen] = useState("");
  const add = useMutation({
    mutationFn: (id: string) => fetchAgent(queries, id),
    onSuccess: (agent) => {
      setChosen("");
      onAdd({
        name: memberName(agent.name),
        model: modelOf(agent, tiers, models),
        persona: agent.persona ?? "",
      });
    },
  });
  const groups = [
    { label: "Yours", agents: agents.filter((one) => !one.isBuiltIn) },
    { label: "Built-in", agents: agents.filter((one) => one.isBuiltIn && !one.isFacilitator) },
    {
      label: "Built-in facilitators",
      agents: agents.filter((one) => one.isBuiltIn && one.isFacilitator),
    },
  ];
  return (
    <>
      <div className="new-members-add">
        <SelectField
          label="From the library"
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
        >
          <option value="">Choose an agent…</option>
          {groups
            .filter((group) => group.agents.length > 0)
            .map((group) => (
              <optgroup key={group.label} label={group.label}>
                {group.agents.map((agent) => (
                  <option key={agent.id} value={agent.id}>
                    {agent.name}
                  </option>
                ))}
              </optgroup>
            ))}
        </SelectField>
        <Button disabled={chosen === "" || add.isPending} onClick={() => add.mutate(chosen)}>
          Add this agent
        </Button>
        <Button icon="plus" onClick={() => onAdd(NOBODY)}>
          Add member
        </Button>
      </div>
      <Wrong error={add.error ?? every.error} />
    </>
  );
}
