// A person is asked to approve a step: what is to be decided, who may, and what follows.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { remembered, useKeptText } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { duration, moment, useNow } from "../ui/time";
import { valueOf, whoDecides, type Approval, type Decision, type RunView, type Step } from "./run";
import { Value } from "./Value";

interface Props {
  run: RunView;
  step: Step;
}

export function Decide({ run, step, where }: Props & { where: string }) {
  const { approval } = step;
  if (!approval) return null;
  const heading = `decide-${step.place}`;
  return (
    <section className="card run-decide" aria-labelledby={heading}>
      <div>
        <h2 id={heading}>Approval needed from {whoDecides(approval)}</h2>
        <p className="muted small">
          {[step.label ?? step.id, ...(where === "" ? [] : [where])].join(" · ")}
        </p>
      </div>
      {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
      {approval.show !== undefined && (
        <div className="run-show">
          <Value value={approval.show} label="To be decided" under={2} />
        </div>
      )}
      {approval.evidence !== undefined && (
        <details>
          <summary>Evidence</summary>
          <Value value={approval.evidence} label="Evidence" under={2} />
        </details>
      )}
      {approval.decided.length > 0 && (
        <p className="small">
          Approved so far by {approval.decided.map(({ by }) => by).join(", ")}; {approval.need} are
          needed.
        </p>
      )}
      <DecideForm run={run} step={step} approval={approval} />
    </section>
  );
}

function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(true);
  return (
    <p className="run-deadline">
      <span>
        Decide by <time dateTime={at}>{moment(at)}</time>
      </span>
      <strong className="number">{left > 0 ? `${duration(left)} left` : "Time is up"}</strong>
    </p>
  );
}

const CHOICES: readonly { decision: Decision; word: string; done: string }[] = [
  { decision: "rejected", word: "Reject", done: "Rejected" },
  { decision: "changes", word: "Ask for changes", done: "Changes asked for" },
  { decision: "approved", word: "Approve", done: "Approved" },
];

function DecideForm({ run, step, approval }: Props & { approval: Approval }) {
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
      onSent: async (_, { decision }) => {
        toast(CHOICES.find((one) => one.decision === decision)?.done ?? "");
        setReason("");
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
          wrong={missing === "by" ? "Choose who decides." : problem?.field("by")}
          onChange={(event) => setBy(event.target.value)}
        >
          {approval.who.length > 1 && <option value="">Choose a name</option>}
          {approval.who.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
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
      <dl className="run-follows muted small">
        {CHOICES.map(({ decision, word }) => (
          <div key={decision}>
            <dt>{word}</dt>
            <dd>{approval.leadsTo[decision]}</dd>
          </div>
        ))}
      </dl>
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
