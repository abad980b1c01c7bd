import { useId } from "react";

interface Props<Name extends string> {
  label: string;
  options: readonly { name: Name; title: string }[];
  chosen: Name;
  onChoose: (name: Name) => void;
}

/** A few choices in a row, of which one holds. */
export function Segmented<Name extends string>({ label, options, chosen, onChoose }: Props<Name>) {
  const group = useId();
  return (
    <fieldset className="segmented">
      <legend className="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.name}>
          <input
            type="radio"
            name={group}
            value={option.name}
            checked={option.name === chosen}
            onChange={() => onChoose(option.name)}
          />
          <span>{option.title}</span>
        </label>
      ))}
    </fieldset>
  );
}
