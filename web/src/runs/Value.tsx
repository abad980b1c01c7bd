import { Markdown } from "../markdown/Markdown";

interface Props {
  value: unknown;
  /** What the value is, for whoever reaches it by keyboard. */
  label: string;
  /** The level of the heading above it. */
  under: 1 | 2 | 3;
}

/** A value of a run: texts as they are meant, maps by their fields, everything else as it is. */
export function Value({ value, label, under }: Props) {
  if (typeof value === "string") {
    return value === "" ? (
      <p className="muted">Nothing</p>
    ) : (
      <Markdown text={value} under={under} />
    );
  }
  if (value === null || value === undefined) return <p className="muted">Nothing</p>;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) {
    return <p>{value.length === 0 ? <span className="muted">None</span> : value.join(", ")}</p>;
  }
  if (Array.isArray(value) && value.every(isFlat)) {
    return (
      <ul className="run-flat">
        {value.map((one, at) => (
          <li key={at}>
            <Flat of={one} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value !== "object") return <p>{JSON.stringify(value)}</p>;
  if (!Array.isArray(value)) {
    return (
      <dl className="run-map">
        {Object.entries(value as Record<string, unknown>).map(([name, one]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value value={one} label={name} under={under} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <pre className="run-value" tabIndex={0} role="group" aria-label={label}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

type FlatMap = Record<string, string | number | boolean | null>;

/** A map of single values, such as a position with who holds it. */
function isFlat(value: unknown): value is FlatMap {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => one === null || typeof one !== "object")
  );
}

/** Who said it comes first, then the words, then the rest. */
export function Flat({ of: { by, text, ...rest } }: { of: FlatMap }) {
  const others = Object.entries(rest).filter(([, value]) => value !== null && value !== "");
  return (
    <>
      {by !== undefined && <strong>{String(by)} </strong>}
      {text !== undefined && <span>{String(text)} </span>}
      <span className="muted small">
        {others.map(([name, value]) => `${name}: ${String(value)}`).join(" · ")}
      </span>
    </>
  );
}
