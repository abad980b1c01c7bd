interface Props {
  id: string;
  names: readonly string[];
  chosen: number;
  about: (name: string) => string;
  onPick: (name: string) => void;
}

/** The members that a half-written `@name` may mean. The focus stays in the text. */
export function MentionList({ id, names, chosen, about, onPick }: Props) {
  return (
    <ul className="council-mentions" id={id} role="listbox" aria-label="Members">
      {names.map((name, index) => (
        <li
          key={name}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(name);
          }}
        >
          <strong>@{name}</strong> <span className="mono">{about(name)}</span>
        </li>
      ))}
    </ul>
  );
}

export function optionId(id: string, index: number): string {
  return `${id}-${index}`;
}
