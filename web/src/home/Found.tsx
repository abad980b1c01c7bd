import { Inline } from "../ui/Inline";
import { canAnswer, type Provider } from "../api/known";
import { providerName, readyWith } from "./providers";

/** Each place where models may be: ready, or why not and what to do. */
export function Found({ providers }: { providers: readonly Provider[] }) {
  return (
    <ul className="list found">
      {providers.map((provider) => (
        <li key={provider.name}>
          <div className="found-head">
            <strong>{providerName(provider)}</strong>
            <span className={canAnswer(provider) ? "badge good" : "badge warn"}>
              {canAnswer(provider) ? "Ready" : "Not ready"}
            </span>
            <span className="mono">{provider.place}</span>
          </div>
          {canAnswer(provider) && <p>{readyWith(provider)}</p>}
          {provider.problem !== undefined && <p>{provider.problem}</p>}
          {provider.hint !== undefined && (
            <p>
              <Inline text={provider.hint} />
            </p>
          )}
          {provider.note !== undefined && <p className="muted">{provider.note}</p>}
        </li>
      ))}
    </ul>
  );
}
