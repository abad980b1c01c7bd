import { useModels, useTiers } from "../api/known";
import { SelectField } from "../ui/Field";
import type { Choice } from "./draft";
import { TIERS } from "./words";

interface Props {
  label: string;
  labelUnseen?: boolean;
  value: Choice;
  /** What no choice means. */
  usual: string;
  wrong?: string | undefined;
  hint?: string;
  withoutTiers?: boolean;
  onChange: (choice: Choice) => void;
}

/** A model, a tier, or whatever is usual. */
export function ModelSelect({
  label,
  labelUnseen = false,
  value,
  usual,
  wrong,
  hint,
  withoutTiers = false,
  onChange,
}: Props) {
  const models = useModels();
  const tiers = useTiers().data ?? [];
  const known = models.data ?? [];
  const isUnknown =
    value.startsWith("model:") && !known.some((model) => `model:${model.name}` === value);
  return (
    <SelectField
      label={label}
      labelUnseen={labelUnseen}
      value={value}
      wrong={wrong ?? (models.error ? "The models could not be loaded." : undefined)}
      hint={hint}
      onChange={(event) => onChange(event.target.value as Choice)}
    >
      <option value="">{usual}</option>
      {isUnknown && <option value={value}>{value.slice("model:".length)}</option>}
      {!withoutTiers && (
        <optgroup label="By tier">
          {tiers.map((tier) => (
            <option key={tier.tier} value={`tier:${tier.tier}`} disabled={tier.model === undefined}>
              {TIERS[tier.tier]}
              {tier.model === undefined ? ": no model" : `: ${tier.model}`}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="One model">
        {known.map((model) => (
          <option key={model.name} value={`model:${model.name}`}>
            {model.name}
          </option>
        ))}
      </optgroup>
    </SelectField>
  );
}
