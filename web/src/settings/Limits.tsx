import type { Schemas } from "../api/client";
import { useLimits } from "../api/known";
import { Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { range } from "./limit-words";

const TITLES: readonly [keyof Schemas["LimitsView"], string][] = [
  ["boardroom", "Boardrooms"],
  ["discussion", "Discussions"],
  ["whiteboard", "Whiteboards"],
  ["council", "Councils"],
  ["agent", "Agents"],
  ["context", "Attachments"],
  ["request", "Requests"],
];

/** How much of everything the server takes. */
export function Limits() {
  const limits = useLimits();
  const { data } = limits;
  return (
    <section className="card" aria-labelledby="settings-limits">
      <h2 id="settings-limits">Limits</h2>
      <p className="muted">How much the server accepts. The same for everyone.</p>
      <Wrong error={limits.error} onRetry={() => void limits.refetch()} />
      {limits.isLoading && <Loading />}
      {data &&
        TITLES.map(([noun, title]) => (
          <details key={noun} className="limits-of">
            <summary>{title}</summary>
            <dl className="limits">
              {Object.entries(data[noun]).map(([id, limit]) => (
                <div key={id}>
                  <dt>{limit.name}</dt>
                  <dd>{range(limit)}</dd>
                </div>
              ))}
            </dl>
          </details>
        ))}
    </section>
  );
}
