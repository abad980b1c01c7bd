import { BudgetFields } from "../ui/Budget";
import { TextField } from "../ui/Field";
import { EstimateCard } from "./EstimateCard";
import type { StepProps } from "./TopicStep";

const PICKED_MOST = 20;

interface Props extends StepProps {
  /** Nothing is missing. */
  isWhole: boolean;
}

export function RoundsStep({ draft, wrongs, limits, isWhole, onChange }: Props) {
  return (
    <>
      <fieldset className="choices">
        <legend className="legend">Rounds</legend>
        <p className="muted small">In each round one participant speaks.</p>
        <div className="format-cards two">
          <label className="choice-card">
            <input
              type="radio"
              name="rounds"
              checked={!draft.isFixed}
              onChange={() => onChange({ isFixed: false })}
            />
            <span className="choice-name">Automatic</span>
            <span className="choice-text">
              The facilitator concludes when enough has been said, after {limits.roundsUsual} rounds
              at the latest.
            </span>
          </label>
          <label className="choice-card">
            <input
              type="radio"
              name="rounds"
              checked={draft.isFixed}
              onChange={() => onChange({ isFixed: true })}
            />
            <span className="choice-name">Fixed</span>
            <span className="choice-text">
              You set the maximum. The facilitator may still end earlier.
            </span>
          </label>
        </div>
      </fieldset>
      {draft.isFixed && (
        <Rounds
          rounds={draft.rounds}
          most={limits.roundsMost}
          wrong={wrongs.get("maxRounds")}
          onChange={onChange}
        />
      )}
      <BudgetFields
        value={draft.allowance}
        wrong={(field) => wrongs.get(field)}
        hint="Shared by everyone. When it runs out, the discussion concludes."
        onChange={(allowance) => onChange({ allowance })}
      />
      <EstimateCard draft={draft} isWhole={isWhole} />
    </>
  );
}

function Rounds({
  rounds,
  most,
  wrong,
  onChange,
}: {
  rounds: string;
  most: number;
  wrong: string | undefined;
  onChange: StepProps["onChange"];
}) {
  const picked = Math.min(PICKED_MOST, Math.max(1, Number(rounds) || 1));
  return (
    <div className="field-row rounds">
      <div className="field">
        <label htmlFor="rounds-slider">Rounds, 1 to {PICKED_MOST}</label>
        <input
          id="rounds-slider"
          type="range"
          min={1}
          max={PICKED_MOST}
          value={picked}
          onChange={(event) => onChange({ rounds: event.target.value })}
        />
      </div>
      <TextField
        label="Number of rounds"
        inputMode="numeric"
        value={rounds}
        wrong={wrong}
        hint={Number.isFinite(most) && `Type a number for up to ${most}.`}
        onChange={(event) => onChange({ rounds: event.target.value })}
      />
    </div>
  );
}
