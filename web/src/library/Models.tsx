import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { copy } from "../ui/announce";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { Icon } from "../ui/icons";
import { Notice, Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { useProviders, useTiers } from "../api/known";
import { providerName } from "../home/providers";

/** What can be used now, and what to do about the rest. */
export function Models() {
  const queries = useQueryClient();
  const providers = useProviders();
  const tiers = useTiers();
  const lookAgain = () => {
    for (const key of ["providers", "models", "tiers"]) {
      void queries.invalidateQueries({ queryKey: [key] });
    }
  };
  const isLooking = providers.isFetching || tiers.isFetching;
  const all = providers.data ?? [];
  const ready = all.filter((provider) => provider.ready);
  const models = ready.reduce((sum, provider) => sum + provider.models.length, 0);
  return (
    <>
      <div className="library-head">
        <p className="muted">
          {providers.data
            ? `${some(models, "model")} available from ${some(ready.length, "provider")}.`
            : "The models available here."}
        </p>
        <Button icon="retry" disabled={isLooking} onClick={lookAgain}>
          {isLooking ? "Refreshing…" : "Refresh"}
        </Button>
      </div>
      <Wrong error={providers.error ?? tiers.error} onRetry={lookAgain} />
      {providers.isPending && <Loading what="Looking for models" />}
      {tiers.data && <Tiers tiers={tiers.data} />}
      {providers.isSuccess && all.length === 0 && (
        <Empty>No provider is set up. Start Ollama, or add an API key in Settings.</Empty>
      )}
      {all.length > 0 && (
        <section className="stack" aria-label="Providers">
          <h2>Providers</h2>
          <ul className="library-providers">
            {[...ready, ...all.filter((provider) => !provider.ready)].map((provider) => (
              <Provider key={provider.name} provider={provider} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const MEANT_FOR: Record<Schemas["TierName"], string> = {
  fast: "quick and cheap: small decisions, many turns",
  balanced: "the usual choice",
  strong: "the most able: hard questions, conclusions",
};

function Tiers({ tiers }: { tiers: Schemas["TierView"][] }) {
  // What keeps all three from meaning a model is said once.
  const [first] = tiers;
  const isShared = tiers.every((one) => one.model === undefined && one.problem === first?.problem);
  return (
    <section className="stack" aria-label="Tiers">
      <h2>Tiers</h2>
      {isShared && first && <TierProblem tier={first} />}
      <ul className="library-tiers">
        {tiers.map((one) => (
          <li key={one.tier} className="card">
            <h3>{one.tier}</h3>
            <p className="muted small">{MEANT_FOR[one.tier]}</p>
            {one.model !== undefined && (
              <>
                <p className="mono">{one.model}</p>
                <p className="muted small">
                  {one.configured ? "set in the configuration" : "chosen automatically"}
                </p>
              </>
            )}
            {one.model === undefined && (isShared ? "No model" : <TierProblem tier={one} />)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function TierProblem({ tier }: { tier: Schemas["TierView"] }) {
  return (
    <Notice look="warn">
      <p>{tier.problem ?? "No model fits this tier."}</p>
      {tier.hint !== undefined && <p className="hint">{tier.hint}</p>}
    </Notice>
  );
}

function Provider({ provider }: { provider: Schemas["ProviderView"] }) {
  return (
    <li className="card library-provider">
      <div className="library-card-head">
        <h3>{providerName(provider)}</h3>
        <span className="mono">{provider.place}</span>
        <span className={provider.ready ? "badge good spread" : "badge warn spread"}>
          <Icon name={provider.ready ? "check" : "warning"} size={12} />
          {provider.ready ? "Ready" : "Not ready"}
        </span>
      </div>
      {!provider.ready && (
        <Notice look="warn">
          <p>{provider.problem ?? "Not available."}</p>
          {provider.hint !== undefined && <p className="hint">{provider.hint}</p>}
        </Notice>
      )}
      {provider.note !== undefined && <Notice>{provider.note}</Notice>}
      {provider.ready && provider.models.length === 0 && (
        <p className="muted">Connected, but it has no models yet.</p>
      )}
      {provider.models.length > 0 && (
        <ul className="library-models" aria-label={`Models of ${provider.name}`}>
          {provider.models.map((model) => (
            <li key={model}>
              <button
                type="button"
                title={`Copy ${provider.name}/${model}`}
                onClick={() => void copy(`${provider.name}/${model}`)}
              >
                {model}
                <span className="unseen">, copy its name</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
