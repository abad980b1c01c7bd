import { useEffect, useState } from "react";
import type { Problem } from "../api/client";
import { bound, TextArea, TextField } from "../ui/Field";
import { FORMATS, type AgentDraft } from "./agentDraft";
import { ModelSelect } from "../ui/ModelSelect";

interface Props {
  draft: AgentDraft;
  problem: Problem | undefined;
  onChange: (to: Partial<AgentDraft>) => void;
}

const MINE = ["model", "tier", "formats", "turnSeconds", "outputTokens", "budgetTokens"];

/** Everything that an agent can do without. */
export function MoreFields({ draft, problem, onChange }: Props) {
  const field = bound(draft, onChange, problem);
  const [isOpen, setOpen] = useState(false);
  const isWrong = problem?.fields.some(
    ({ field: name }) => MINE.includes(name) || name.startsWith("workspace"),
  );
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong]);
  const tools = problem?.fields.find((one) => one.field.startsWith("workspace.tools"))?.problem;
  return (
    <details
      className="agent-more"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        More <span className="muted">model, formats, limits, workspace</span>
      </summary>
      <div className="stack">
        <ModelSelect
          label="Model"
          value={draft.speaksBy}
          none="Any model"
          prefix="model:"
          tiers
          wrong={problem?.field("model") ?? problem?.field("tier")}
          onChoose={(speaksBy) => onChange({ speaksBy })}
        />
        <div className="stack tight" role="group" aria-label="Best formats">
          <p className="legend">Best for</p>
          <div className="row">
            {FORMATS.map((format) => (
              <label key={format} className="choice">
                <input
                  type="checkbox"
                  checked={draft.formats.includes(format)}
                  onChange={(event) =>
                    onChange({
                      formats: FORMATS.filter((one) =>
                        one === format ? event.target.checked : draft.formats.includes(one),
                      ),
                    })
                  }
                />
                {format}
              </label>
            ))}
          </div>
          <p className="muted small">Only a suggestion: it can take part in any format.</p>
        </div>
        <div className="agent-bounds">
          <TextField
            label="Seconds per turn"
            hint="5 to 3,600"
            type="number"
            inputMode="numeric"
            {...field("turnSeconds")}
          />
          <TextField
            label="Tokens per answer"
            hint="16 to 65,536"
            type="number"
            inputMode="numeric"
            {...field("outputTokens")}
          />
          <TextField
            label="Tokens per session"
            hint="At least 1,000; input counts too"
            type="number"
            inputMode="numeric"
            {...field("budgetTokens")}
          />
        </div>
        <TextField
          label="Folder"
          hint="Where a command-line agent runs. A full path, or one that starts with ~/."
          placeholder="~/projects/app"
          spellCheck={false}
          {...field("folder", "workspace.folder")}
        />
        <TextArea
          label="Tools"
          hint="Tools it may use, as its program names them. One per line."
          rows={2}
          spellCheck={false}
          value={draft.tools}
          wrong={tools}
          onChange={(event) => onChange({ tools: event.target.value })}
        />
      </div>
    </details>
  );
}
