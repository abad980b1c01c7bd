// What a discussion may take, before it is made. Asked for again a moment after a change.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";
import { range, roughly } from "../ui/estimate";
import { money } from "../ui/money";
import { useSettled } from "../ui/settled";
import { count, duration } from "../ui/time";
import { body, type Seated } from "./draft";

const SETTLE_MS = 400;

export function EstimateCard({ draft, isWhole }: { draft: Seated; isWhole: boolean }) {
  const text = useSettled(JSON.stringify(body(draft, false)), SETTLE_MS);
  const { data, isFetching } = useQuery({
    queryKey: ["estimates", text],
    queryFn: ({ signal }) =>
      asked(
        client.POST("/api/discussions/estimate", {
          body: JSON.parse(text) as Schemas["NewDiscussion"],
          signal,
        }),
      ),
    // While something is wrong there is no estimate; the fields say what.
    enabled: isWhole,
    placeholderData: (before) => before,
  });
  if (!data) return null;
  return (
    <section className="card stack" aria-label="Estimate" aria-busy={isFetching}>
      <h3>Estimate</h3>
      <EstimateFigures estimate={data} />
    </section>
  );
}

export function EstimateFigures({ estimate }: { estimate: Schemas["Estimate"] }) {
  const { seconds, cost, currency, notes } = estimate;
  const figures = [
    { name: "Calls", value: range(estimate.calls, count) },
    { name: "Input tokens", value: range(estimate.inputTokens, roughly) },
    { name: "Output tokens", value: range(estimate.outputTokens, roughly) },
    { name: "Time", value: seconds && range(seconds, (value) => duration(value * 1_000)) },
    { name: "Cost", value: cost && range(cost, (value) => money(value, currency, cost.high)) },
  ];
  return (
    <>
      <dl className="figures">
        {figures.map((figure) => (
          <div key={figure.name}>
            <dt>{figure.name}</dt>
            <dd className="number">{figure.value ?? "Not known yet"}</dd>
          </div>
        ))}
      </dl>
      {notes.length > 0 && (
        <ul className="muted small notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}
