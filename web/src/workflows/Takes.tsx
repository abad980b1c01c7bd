import { money } from "../ui/money";
import { count, some } from "../ui/time";
import { useEstimate } from "./data";

/** What a run would take, before anything is sent. */
export function Takes({ source, inputs = {} }: { source: string; inputs?: object }) {
  const { data, error } = useEstimate(source, inputs, true);
  if (error) return <p className="muted small">No estimate: {error.message}</p>;
  if (!data) return <p className="muted small">Estimating…</p>;
  const { calls, inputTokens, outputTokens, cost, currency, people, notes } = data;
  const tokens = (of: "typical" | "most") => count(inputTokens[of] + outputTokens[of]);
  const price = (value: number) => money(value, currency);
  return (
    <div className="takes">
      <p>
        <strong>
          {some(calls.typical, "call")}, about {tokens("typical")} tokens
          {cost && `, ${price(cost.typical)}`}
        </strong>
      </p>
      <p className="muted small">
        At most {some(calls.most, "call")}, {tokens("most")} tokens
        {cost && ` and ${price(cost.most)}`}
        {people.typical > 0 && `; ${some(people.typical, "decision")} by people`}. Nothing is sent.
      </p>
      {notes.map((note) => (
        <p key={note} className="muted small">
          {note}
        </p>
      ))}
    </div>
  );
}
