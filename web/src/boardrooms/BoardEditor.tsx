import "../style/seats.css";
import type { Problem } from "../api/client";
import { BudgetFields } from "../ui/Budget";
import { Button } from "../ui/Button";
import { TextArea, TextField } from "../ui/Field";
import { ModelSelect, shortModel } from "../ui/ModelSelect";
import type { Presets, RoleName } from "./board";
import { SeatRow } from "./SeatRow";
import { GRACE_SECONDS, modelAt, newSeat, synthesizerOf, type Seat, type Setup } from "./setup";

interface Props {
  setup: Setup;
  presets: Presets;
  inTurn: readonly string[];
  advisorsMost: number;
  problem?: Problem | undefined;
  /** Of a saved board, which may say more. */
  isSaved?: boolean;
  onChange: (setup: Setup) => void;
}

/** Everything about a board that is rarely changed. */
export function BoardEditor(props: Props) {
  const { setup, presets, inTurn, advisorsMost, problem, isSaved = false, onChange } = props;
  const { seats } = setup;
  const seated = (next: Seat[]) => onChange({ ...setup, seats: next });
  const move = (place: number, by: -1 | 1) => {
    const next = [...seats];
    const [seat] = next.splice(place, 1);
    if (seat) next.splice(place + by, 0, seat);
    seated(next);
  };
  return (
    <div className="board-editor">
      <ul className="seats" aria-label="Advisors">
        {seats.map((seat, place) => (
          <SeatRow
            key={seat.key}
            seat={seat}
            place={place}
            last={seats.length - 1}
            roles={presets.roles}
            inTurn={inTurn.length === 0 ? "" : modelAt(turnOf(setup, place), place, inTurn)}
            problem={problem}
            field={isSaved ? "seats" : "advisors"}
            onChange={(change) =>
              seated(seats.map((one) => (one === seat ? { ...one, ...change } : one)))
            }
            onMove={(by) => move(place, by)}
            onRemove={() => seated(seats.filter((one) => one !== seat))}
          />
        ))}
      </ul>
      <div className="row">
        <Button
          icon="plus"
          disabled={seats.length >= advisorsMost}
          onClick={() => seated([...seats, newSeat(nextRole(setup, presets), seats)])}
        >
          Add advisor
        </Button>
        {seats.length >= advisorsMost && (
          <span className="muted small">A board has at most {advisorsMost}.</span>
        )}
      </div>
      <div className="editor-rules">
        <ModelSelect
          label="Who writes the verdict"
          value={setup.synthesizer}
          tiers={isSaved}
          wrong={problem?.field("synthesizer") ?? problem?.field("synthesis.model")}
          none={
            inTurn.length === 0
              ? "Any model"
              : `Automatic (${shortModel(synthesizerOf({ ...setup, synthesizer: "" }, inTurn))})`
          }
          onChoose={(synthesizer) => onChange({ ...setup, synthesizer })}
        />
        <TextField
          label="Minimum answers"
          type="number"
          min="1"
          max={seats.length}
          placeholder={`All ${seats.length}`}
          value={setup.quorum}
          wrong={problem?.field("quorum.need")}
          onChange={(event) => onChange({ ...setup, quorum: event.target.value })}
        />
        <TextField
          label="Then wait for the rest (s)"
          type="number"
          min="0"
          placeholder={String(GRACE_SECONDS)}
          disabled={setup.quorum === ""}
          value={setup.graceSeconds}
          wrong={problem?.field("quorum.graceSeconds")}
          onChange={(event) => onChange({ ...setup, graceSeconds: event.target.value })}
        />
        <TextField
          label="Answer in"
          placeholder="The question’s language"
          value={setup.language ?? ""}
          wrong={problem?.field("language")}
          onChange={(event) => onChange({ ...setup, language: event.target.value })}
        />
      </div>
      {isSaved && (
        <TextArea
          label="Instruction for the verdict"
          rows={2}
          placeholder="Write for engineers."
          value={setup.instruction ?? ""}
          wrong={problem?.field("synthesis.prompt")}
          onChange={(event) => onChange({ ...setup, instruction: event.target.value })}
        />
      )}
      <BudgetFields
        value={setup.allowance}
        wrong={(field) => problem?.field(field)}
        hint="When it runs out, the verdict is written from the answers so far."
        onChange={(allowance) => onChange({ ...setup, allowance })}
      />
      <label className="choice">
        <input
          type="checkbox"
          checked={setup.ballot}
          onChange={(event) => onChange({ ...setup, ballot: event.target.checked })}
        />
        <span>
          Advisors vote on the verdict
          <span className="muted small block-line">
            Each accepts, rejects or defers every point. This costs one more call per advisor.
          </span>
        </span>
      </label>
      {seats.some(({ kind }) => kind === "person") && (
        <label className="choice">
          <input
            type="checkbox"
            checked={setup.openAnswers ?? false}
            onChange={(event) => onChange({ ...setup, openAnswers: event.target.checked })}
          />
          <span>
            Show people the other answers first
            <span className="muted small block-line">
              Otherwise they stay hidden until that person answers.
            </span>
          </span>
        </label>
      )}
    </div>
  );
}

/** The set-up as if this seat had chosen nothing. */
function turnOf(setup: Setup, place: number): Setup {
  return {
    ...setup,
    seats: setup.seats.map((seat, at) => (at === place ? { ...seat, model: "" } : seat)),
  };
}

/** A role that the board has not, else the first. */
function nextRole(setup: Setup, presets: Presets): RoleName {
  const there = new Set(setup.seats.map((seat) => seat.role));
  return presets.roles.find((role) => !there.has(role.id))?.id ?? "generalist";
}
