import { useState } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem } from "../api/client";
import { useWrite } from "../api/write";
import { valueOf } from "../runs/run";
import { remember, remembered } from "../stored";
import { Confirm } from "../ui/Confirm";
import { SelectField, TextArea, TextField } from "../ui/Field";
import type { Input } from "./data";
import { Takes } from "./Takes";

interface Props {
  /** A stored one; with a source, the file as it stands in the editor. */
  workflow: { name: string; inputs: readonly Input[]; source?: string; version?: number };
  onClose: () => void;
}

interface Begun {
  inputs: Record<string, unknown>;
  starter: string;
}

/** Asks for the inputs of a run, and begins it. */
export function StartRun({ workflow, onClose }: Props) {
  const { name, inputs, source, version } = workflow;
  const [, go] = useLocation();
  const [filled, setFilled] = useState<Record<string, string>>({});
  const [starter, setStarter] = useState(() => remembered("my-name", ""));
  const start = useWrite(
    ({ inputs: given, starter: by }: Begun, header) =>
      asked(
        client.POST("/api/runs", {
          params: { header },
          body: {
            ...(source === undefined
              ? { workflow: name, ...(version && { version }) }
              : { source }),
            inputs: given as Record<string, never>,
            ...(by !== "" && { starter: by }),
          },
        }),
      ),
    {
      onSent: ({ id }, { starter: by }) => {
        if (by !== "") remember("my-name", by);
        go(`/runs/${id}`);
      },
    },
  );
  const problem = start.error instanceof Problem ? start.error : undefined;
  const given = givenOf(inputs, filled);
  return (
    <Confirm
      title={`Run ${name}`}
      action="Run"
      doing="Starting…"
      icon="play"
      isBusy={start.isPending}
      error={start.error}
      onClose={onClose}
      onSure={() => start.mutate({ inputs: given, starter: starter.trim() })}
    >
      {inputs.map((input) => (
        <InputField
          key={input.name}
          input={input}
          value={filled[input.name] ?? ""}
          wrong={problem?.field(`inputs.${input.name}`)}
          onChange={(value) => setFilled({ ...filled, [input.name]: value })}
        />
      ))}
      <TextField
        label="Your name (optional)"
        hint="You can’t approve a run you started unless the workflow allows it."
        value={starter}
        onChange={(event) => setStarter(event.target.value)}
      />
      {source !== undefined && <Takes source={source} inputs={given} />}
    </Confirm>
  );
}

/** What is filled in, as the types that are asked for; a list may be given by commas. */
function givenOf(inputs: readonly Input[], filled: Record<string, string>) {
  return Object.fromEntries(
    inputs.flatMap(({ name, type }) => {
      const text = (filled[name] ?? "").trim();
      if (text === "") return [];
      const isList = type === "array" && !text.startsWith("[");
      const list = () => text.split(",").map((one) => one.trim());
      return [[name, isList ? list().filter(Boolean) : valueOf(type, text)]];
    }),
  );
}

interface FieldProps {
  input: Input;
  value: string;
  wrong: string | undefined;
  onChange: (value: string) => void;
}

const LONG_DEFAULT = 40;

function InputField({ input, value, wrong, onChange }: FieldProps) {
  const { name, type, required, description, default: usual } = input;
  const label = `${name}${required ? "" : " (optional)"}`;
  const usually =
    usual === undefined || usual === null || (usual as unknown) === "" ? "" : shown(usual);
  const hint = [description, type === "array" ? "Several, separated by commas." : undefined]
    .filter(Boolean)
    .join(". ")
    .replace("..", ".");
  const rest = { label, value, wrong, ...(hint !== "" && { hint }) };
  if (type === "boolean") {
    return (
      <SelectField {...rest} onChange={(event) => onChange(event.target.value)}>
        <option value="">{usually === "" ? "Choose" : `Default: ${usually}`}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </SelectField>
    );
  }
  const isLong = type === "object" || (type === "string" && usually.length > LONG_DEFAULT);
  const Box = isLong ? TextArea : TextField;
  return (
    <Box
      {...rest}
      placeholder={usually}
      onChange={(event: { target: { value: string } }) => onChange(event.target.value)}
    />
  );
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(shown).join(", ") : JSON.stringify(value);
}
