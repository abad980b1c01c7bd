import type { Schemas } from "../api/client";
import { canAnswer, useModels, useProviders, useTiers, type Provider } from "../api/known";
import { providerName } from "../home/providers";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { SelectField } from "../ui/Field";
import { Inline } from "../ui/Inline";
import { Notice, Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { setTiers, useSet, useSettings } from "./operator";

export function Providers() {
  const providers = useProviders();
  return (
    <section className="card" aria-labelledby="settings-providers">
      <div className="settings-head">
        <h2 id="settings-providers">Providers</h2>
        <Button
          look="quiet"
          icon="retry"
          disabled={providers.isFetching}
          onClick={() => void providers.refetch()}
        >
          Refresh
        </Button>
      </div>
      <Wrong error={providers.data ? null : providers.error} />
      {providers.isLoading && <Loading what="Looking for models" />}
      <ul className="list settings-providers">
        {providers.data?.map((provider) => (
          <li key={provider.name}>
            <OneProvider provider={provider} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneProvider({ provider }: { provider: Provider }) {
  const isReady = canAnswer(provider);
  return (
    <>
      <div className="row">
        <h3>{providerName(provider)}</h3>
        <span className={isReady ? "badge good" : "badge warn"}>
          {isReady ? some(provider.models.length, "model") : "Not ready"}
        </span>
        <span className="mono">{provider.place}</span>
      </div>
      {provider.problem !== undefined && (
        <p>
          <Inline text={provider.problem} />
        </p>
      )}
      {provider.hint !== undefined && (
        <p>
          <Inline text={provider.hint} />
        </p>
      )}
      {provider.note !== undefined && <p className="muted">{provider.note}</p>}
      {provider.models.length > 0 && (
        <details>
          <summary>Models</summary>
          <ul className="model-names">
            {provider.models.map((model) => (
              <li key={model} className="mono">
                {provider.name}/{model}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

export function Tiers() {
  const tiers = useTiers();
  const models = useModels();
  const settings = useSettings();
  const set = useSet(setTiers);
  const same = sameProblem(tiers.data ?? []);
  return (
    <section className="card" aria-labelledby="settings-tiers">
      <h2 id="settings-tiers">Tiers</h2>
      <p className="muted">
        Agents can ask for a tier instead of a model. Changes apply at once; running sessions keep
        the models they started with.
      </p>
      <Wrong error={tiers.data ? null : tiers.error} onRetry={() => void tiers.refetch()} />
      {tiers.isLoading && <Loading />}
      {same && (
        <Notice look="warn">
          <p>{same.problem}</p>
          {same.hint !== undefined && (
            <p className="hint">
              <Inline text={same.hint} />
            </p>
          )}
        </Notice>
      )}
      <Wrong error={set.error} />
      <ul className="list settings-list">
        {tiers.data?.map((tier) => (
          <li key={tier.tier}>
            <OneTier
              tier={same ? { ...tier, problem: undefined, hint: undefined } : tier}
              models={settings.data ? (models.data ?? []).map(({ name }) => name) : undefined}
              chosen={settings.data?.tiers[tier.tier]}
              onSet={(model) => set.mutate({ ...settings.data?.tiers, [tier.tier]: model })}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

type Tier = Schemas["TierView"];

/** What is wrong with all of them alike is said once. */
function sameProblem(tiers: readonly Tier[]): Tier | undefined {
  const [first] = tiers;
  if (first?.problem === undefined) return undefined;
  return tiers.every((tier) => tier.problem === first.problem) ? first : undefined;
}

interface TierProps {
  tier: Tier;
  /** What the operator may choose from; nothing for anybody else. */
  models: readonly string[] | undefined;
  chosen: string | undefined;
  onSet: (model: string | undefined) => void;
}

function OneTier({ tier, models, chosen, onSet }: TierProps) {
  return (
    <>
      <div>
        <h3 className="tier-name">{tier.tier}</h3>
        {tier.model !== undefined && <p className="mono">{tier.model}</p>}
        {tier.problem !== undefined && <p>{tier.problem}</p>}
        {tier.hint !== undefined && (
          <p className="muted">
            <Inline text={tier.hint} />
          </p>
        )}
      </div>
      {models ? (
        <SelectField
          label={`Model for ${tier.tier}`}
          labelUnseen
          value={chosen ?? ""}
          onChange={(event) => onSet(event.target.value || undefined)}
          none="Automatic"
          options={[...new Set([...(chosen ? [chosen] : []), ...models])].map((model) => [
            model,
            model,
          ])}
        />
      ) : (
        <span className={tier.model === undefined ? "badge warn" : "badge"}>
          {tier.model === undefined ? "No model" : tier.configured ? "Set by you" : "Automatic"}
        </span>
      )}
    </>
  );
}
