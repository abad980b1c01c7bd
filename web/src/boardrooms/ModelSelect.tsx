import type { SelectHTMLAttributes } from "react";
import { SelectField } from "../ui/Field";
import { useModels, useTiers } from "../api/known";
import { shortModel } from "./board";

interface Props extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange"> {
  label: string;
  labelUnseen?: boolean;
  hint?: string;
  wrong?: string | undefined;
  value: string;
  /** What choosing none means, in words. */
  none: string;
  /** Offers `tier:strong` and the like too. */
  tiers?: boolean;
  onChoose: (model: string) => void;
}

/** One of the models that can be used now, by provider. */
export function ModelSelect({ value, none, tiers = false, onChoose, ...rest }: Props) {
  const models = useModels().data ?? [];
  const known = useTiers().data ?? [];
  const providers = [...new Set(models.map((model) => model.provider))];
  return (
    <SelectField value={value} onChange={(event) => onChoose(event.target.value)} {...rest}>
      <option value="">{none}</option>
      {(tiers || value.startsWith("tier:")) && (
        <optgroup label="By tier">
          {known.map(({ tier, model }) => (
            <option key={tier} value={`tier:${tier}`}>
              {tier.charAt(0).toUpperCase() + tier.slice(1)} (
              {model ? shortModel(model) : "none set"})
            </option>
          ))}
        </optgroup>
      )}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {models
            .filter((model) => model.provider === provider)
            .map((model) => (
              <option key={model.name} value={model.name}>
                {shortModel(model.name)}
              </option>
            ))}
        </optgroup>
      ))}
    </SelectField>
  );
}
