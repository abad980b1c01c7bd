import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { createPortal } from "react-dom";
import { asked, client, Problem } from "../api/client";
import { useWrite } from "../api/write";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import type { Agent } from "./data";

interface Props {
  /** Whose style it may begin with. */
  styles: readonly Agent[];
  onClose: () => void;
  onMade: (agent: Agent) => void;
}

/** A facilitator of one's own, from a style or from nothing. */
export function NewFacilitator({ styles, onClose, onMade }: Props) {
  const queries = useQueryClient();
  const [style, setStyle] = useState("");
  const [name, setName] = useState("");
  const [description, setDescription] = useState<string>();
  const [persona, setPersona] = useState<string>();
  const model = useQuery({
    queryKey: ["agents", "one", style],
    queryFn: () => asked(client.GET("/api/agents/{id}", { params: { path: { id: style } } })),
    enabled: style !== "",
  }).data;
  const shown = {
    description: description ?? model?.description ?? "",
    persona: persona ?? model?.persona ?? "",
  };
  const body = {
    ...(style !== "" && { copyOf: style }),
    name: name.trim(),
    ...(shown.description.trim() !== "" && { description: shown.description.trim() }),
    ...(shown.persona.trim() !== "" && { persona: shown.persona }),
    isFacilitator: true,
  };
  const making = useWrite(
    (made: typeof body, header) =>
      asked(client.POST("/api/agents", { params: { header }, body: made })),
    {
      onSent: async (agent) => {
        await queries.invalidateQueries({ queryKey: ["agents"] });
        onMade(agent);
      },
    },
  );
  const wrong = (field: string) =>
    making.error instanceof Problem ? making.error.field(field) : undefined;
  function make(event: FormEvent): void {
    // The wizard's form is around this one in React's tree, though not in the page's.
    event.preventDefault();
    event.stopPropagation();
    making.mutate(body);
  }
  return createPortal(
    <Dialog title="New facilitator" onClose={onClose} wide>
      <form className="stack" onSubmit={make}>
        <SelectField
          label="Start from the style of"
          value={style}
          onChange={(event) => setStyle(event.target.value)}
        >
          <option value="">None: write your own</option>
          {styles.map((agent) => (
            <option key={agent.id} value={agent.id}>
              {agent.name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Name"
          required
          autoFocus
          maxLength={80}
          value={name}
          wrong={wrong("name")}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Description"
          hint="How it leads, in one line. Shown in lists."
          value={shown.description}
          wrong={wrong("description")}
          onChange={(event) => setDescription(event.target.value)}
        />
        <TextArea
          label="Persona"
          hint="Sent to the model word for word: whom to call on, when enough has been said, what the conclusion looks like."
          rows={6}
          value={shown.persona}
          wrong={wrong("persona")}
          onChange={(event) => setPersona(event.target.value)}
        />
        <Wrong error={making.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={making.isPending || name.trim() === ""}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>,
    document.body,
  );
}
