import { ALL_KINDS, kindOf } from "../session/kinds";
import { statusOf } from "../shell/status";
import { SelectField, TextField } from "../ui/Field";
import { Segmented } from "../ui/Segmented";
import type { Looked } from "./filter";

const FORMS = [
  { name: "", title: "Any type" },
  ...ALL_KINDS.map(({ kind, plural }) => ({ name: kind, title: plural })),
];

const RUNNING = "running now";
const WAITING = "waiting";

interface Props {
  looked: Looked;
  typed: string;
  onType: (words: string) => void;
  onLook: (change: Partial<Looked>) => void;
}

export function Filters({ looked, typed, onType, onLook }: Props) {
  const of =
    looked.kind === ""
      ? ALL_KINDS.flatMap(({ statuses }) => statuses)
      : kindOf(looked.kind)?.statuses;
  // A status from somebody's link is kept, also when it is none that we know.
  const statuses = new Set([...(of ?? []), ...(looked.status === "" ? [] : [looked.status])]);
  return (
    <form role="search" className="history-filters" onSubmit={(event) => event.preventDefault()}>
      <TextField
        label="Search all sessions"
        labelUnseen
        type="search"
        placeholder="Search everything asked and said"
        aria-keyshortcuts="/"
        value={typed}
        onChange={(event) => onType(event.target.value)}
      />
      <div className="history-narrow">
        <Segmented
          label="Type"
          options={FORMS}
          chosen={FORMS.find((form) => form.name === looked.kind)?.name ?? ""}
          onChoose={(kind) => onLook({ kind, status: isOf(kind, looked.status) })}
        />
        <SelectField
          label="Status"
          labelUnseen
          value={looked.active ? RUNNING : looked.waiting ? WAITING : looked.status}
          onChange={(event) => {
            const chosen = event.target.value;
            onLook({
              active: chosen === RUNNING,
              waiting: chosen === WAITING,
              status: chosen === RUNNING || chosen === WAITING ? "" : chosen,
            });
          }}
          none="Any status"
          options={[...statuses].map((status) => [status, wordOf(status, looked.kind)])}
        >
          <option value={RUNNING}>Running now</option>
          <option value={WAITING}>Waiting for a person</option>
        </SelectField>
      </div>
    </form>
  );
}

/** Boards and runs that are done have not the same status. */
function wordOf(status: string, kind: string): string {
  if (kind === "" && status === "closed") return "Done (boards), closed (councils)";
  if (kind === "" && status === "done") return "Done (workflows)";
  return statusOf(status, kind).word;
}

/** The status, if sessions of that form can have it. */
function isOf(kind: string, status: string): string {
  return kind === "" || kindOf(kind)?.statuses.includes(status) ? status : "";
}
