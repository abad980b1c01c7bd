import type { Schemas } from "../api/client";

interface Props {
  models: readonly Schemas["ModelView"][];
  /** The model that is chosen; it is offered although it cannot be used now. */
  chosen?: string | undefined;
  /** What the value of an option begins with. */
  prefix?: string;
}

/** Models as options of a list, by provider. */
export function ModelOptions({ models, chosen, prefix = "" }: Props) {
  const providers = [...new Set(models.map((model) => model.provider))];
  const isKnown = !chosen || models.some((model) => model.name === chosen);
  return (
    <>
      {!isKnown && <option value={`${prefix}${chosen}`}>{chosen} (not available)</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {models
            .filter((model) => model.provider === provider)
            .map((model) => (
              <option key={model.name} value={`${prefix}${model.name}`}>
                {model.name.slice(provider.length + 1)}
              </option>
            ))}
        </optgroup>
      ))}
    </>
  );
}
