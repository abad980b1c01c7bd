// A person decides on a step: who, why, and what the step asks to be filled in.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { remember, remembered, useKeptText } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { valueOf, type Approval, type Decision, type RunView, type Step } from "./run";

interface Props {
  run: RunView;
  step: Step;
  approval: Approval;
  onDecided: () => void;
}

export const CHOICES: readonly { decision: Decision; word: string; done: string }[] = [
  { decision: "rejected", word: "Reject", done: "Rejected" },
  { decision: "changes", word: "Request changes", done: "Changes requested" },
  { decision: "approved", word: "Approve", done: "Approved" },
];

export function DecideForm({ run, step, approval, onDecided }: Props) {
  const place = `approval.${run.id}.${step.place}`;
  const queries = useQueryClient();
  const [chosen, setBy] = useState(() => whoIsHere(approval.who));
  const by = approval.who.includes(chosen) ? chosen : "";
  const [reason, setReason] = useKeptText(place);
  const [fields, setFields] = useState<Record<string, string>>({});
  const [missing, setMissing] = useState<"by" | "reason">();
  const sending = useWrite(
    (body: Schemas["NewDecision"], header) =>
      asked(
        client.POST("/api/runs/{id}/steps/{step}/approve", {
          params: { path: { id: run.id, step: step.place }, header },
          body,
        }),
      ),
    {
      place,
      onSent: async (_, { decision, by: decider }) => {
        toast(CHOICES.find((one) => one.decision === decision)?.done ?? "");
        setReason("");
        if (decider) remember("my-name", decider);
        onDecided();
        await queries.invalidateQueries({ queryKey: ["runs", run.id] });
      },
    },
  );
  const problem = sending.error instanceof Problem ? sending.error : undefined;
  const decide = (decision: Decision) => {
    const lacks =
      by === "" ? "by" : decision !== "approved" && !reason.trim() ? "reason" : undefined;
    setMissing(lacks);
    if (lacks !== undefined) return;
    const filled = approval.fields.flatMap(({ name, type }) => {
      const text = fields[name] ?? "";
      return text === "" ? [] : [[name, valueOf(type, text)]];
    });
    sending.mutate({
      decision,
      by,
      reason: reason.trim() || null,
      fields: Object.fromEntries(filled) as Record<string, never>,
    });
  };
  const isFieldWrong = problem !== undefined && problem.fields.length > 0;
  return (
    <form
      className="stack no-print"
      aria-label={`Decide on ${step.label ?? step.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        decide("approved");
      }}
    >
      <div className="run-fields">
        <SelectField
          label="Decide as"
          value={by}
          wrong={missing === "by" ? "Choose who is deciding." : problem?.field("by")}
          {...(approval.who.length > 1 && { none: "Choose a name" })}
          options={approval.who.map((name) => [name, name])}
          onChange={(event) => setBy(event.target.value)}
        />
        {approval.fields.map((field) => (
          <Filled
            key={field.name}
            field={field}
            value={fields[field.name] ?? ""}
            wrong={problem?.field(`fields.${field.name}`)}
            onChange={(value) => setFields({ ...fields, [field.name]: value })}
          />
        ))}
      </div>
      <TextArea
        label="Reason"
        hint="Goes on the record. Required to reject or to ask for changes."
        rows={2}
        value={reason}
        wrong={missing === "reason" ? "Enter a reason." : problem?.field("reason")}
        onChange={(event) => setReason(event.target.value)}
      />
      {!isFieldWrong && <Wrong error={sending.error} />}
      <div className="row">
        {CHOICES.map(({ decision, word }) => (
          <Button
            key={decision}
            {...(decision === "approved"
              ? { type: "submit" as const, look: "primary" as const, className: "spread" }
              : { onClick: () => decide(decision) })}
            {...(decision === "rejected" && { look: "danger" as const })}
            disabled={sending.isPending}
          >
            {word}
          </Button>
        ))}
      </div>
    </form>
  );
}

interface FilledProps {
  field: Schemas["InputView"];
  value: string;
  wrong: string | undefined;
  onChange: (value: string) => void;
}

/** Something that the step asks to be filled in. */
function Filled({ field, value, wrong, onChange }: FilledProps) {
  const { name, type, required, description } = field;
  const label = `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}${required ? "" : " (optional)"}`;
  if (type === "boolean") {
    return (
      <SelectField
        label={label}
        {...(description !== undefined && { hint: description })}
        value={value}
        wrong={wrong}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">Choose</option>
        <option value="true">Yes</option>
        <option value="false">No</option>
      </SelectField>
    );
  }
  return (
    <TextField
      label={label}
      {...(description !== undefined && { hint: description })}
      value={value}
      wrong={wrong}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Whoever uses this browser, where that is known; nobody decides in another's name by accident. */
function whoIsHere(who: readonly string[]): string {
  const usual = remembered("my-name", "").trim().toLowerCase();
  return who.find((name) => name.toLowerCase() === usual) ?? (who.length === 1 ? who[0] : "") ?? "";
}
