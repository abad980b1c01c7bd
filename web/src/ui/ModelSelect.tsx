// A choice between the models that can be used now, by provider, and between tiers.

import { useModels, useTiers } from "../api/known";
import type { Schemas } from "../api/client";
import { SelectField } from "./Field";

/** `qwen3:32b` of `ollama/qwen3:32b`. */
export function shortModel(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

interface Props<Value extends string> {
  label: string;
  labelUnseen?: boolean;
  hint?: string;
  wrong?: string | undefined;
  value: Value;
  /** What choosing none means, in words. */
  none: string;
  /** What the value of a model begins with. */
  prefix?: string;
  /** Offers `tier:strong` and the like too. */
  tiers?: boolean;
  onChoose: (value: Value) => void;
}

export function ModelSelect<Value extends string = string>(props: Props<Value>) {
  const { value, none, prefix = "", tiers = false, wrong, onChoose, ...rest } = props;
  const models = useModels();
  const known = useTiers().data ?? [];
  const isTier = value.startsWith("tier:");
  return (
    <SelectField
      value={value}
      wrong={wrong ?? (models.error ? "The models could not be loaded." : undefined)}
      onChange={(event) => onChoose(event.target.value as Value)}
      {...rest}
    >
      <option value="">{none}</option>
      {(tiers || isTier) && (
        <optgroup label="By tier">
          {known.map(({ tier, model }) => (
            <option key={tier} value={`tier:${tier}`} disabled={model === undefined}>
              {tier.charAt(0).toUpperCase() + tier.slice(1)} (
              {model ? shortModel(model) : "none set"})
            </option>
          ))}
        </optgroup>
      )}
      <ModelOptions
        models={models.data}
        chosen={isTier ? undefined : value.slice(prefix.length)}
        prefix={prefix}
      />
    </SelectField>
  );
}

interface OptionsProps {
  /** Absent while nobody knows. */
  models: readonly Schemas["ModelView"][] | undefined;
  /** The model that is chosen; it is offered although it cannot be used now. */
  chosen?: string | undefined;
  prefix?: string;
}

/** Models as options of a list, by provider. */
export function ModelOptions({ models: known, chosen, prefix = "" }: OptionsProps) {
  const models = known ?? [];
  const providers = [...new Set(models.map((model) => model.provider))];
  const isKnown = !chosen || models.some((model) => model.name === chosen);
  return (
    <>
      {!isKnown && (
        <option value={`${prefix}${chosen}`}>
          {chosen}
          {known && " (not available)"}
        </option>
      )}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {models
            .filter((model) => model.provider === provider)
            .map((model) => (
              <option key={model.name} value={`${prefix}${model.name}`}>
                {shortModel(model.name)}
              </option>
            ))}
        </optgroup>
      ))}
    </>
  );
}
