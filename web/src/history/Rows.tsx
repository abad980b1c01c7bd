import { exportOf } from "../session/kinds";
import { useLabelling } from "../session/label";
import { SessionRow } from "../shell/SessionRow";
import type { Session } from "../shell/sessions";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/Menu";

interface Props {
  /** What these rows are, for whoever hears them. */
  label: string;
  rows: readonly Session[];
  isStale: boolean;
  /** What was searched for. */
  words: string;
  chosen: ReadonlySet<string>;
  /** With Shift: all from the one that was clicked before. */
  onChoose: (id: string, isRange: boolean) => void;
  onRemove: (session: Session) => void;
}

export function Rows({ label, rows, isStale, ...rest }: Props) {
  if (rows.length === 0) return null;
  return (
    <ul className="list history-rows" aria-label={label} aria-busy={isStale}>
      {rows.map((session) => (
        <Row key={session.id} session={session} {...rest} />
      ))}
    </ul>
  );
}

interface RowProps extends Omit<Props, "label" | "rows" | "isStale"> {
  session: Session;
}

function Row({ session, words, chosen, onChoose, onRemove }: RowProps) {
  const labelling = useLabelling(session);
  const isChosen = chosen.has(session.id);
  return (
    <li className={isChosen ? "chosen" : undefined}>
      <label className="history-choice">
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={`Select “${session.title}”`}
          onChange={({ nativeEvent }) =>
            onChoose(session.id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
          }
        />
      </label>
      <SessionRow session={session} words={words} />
      <Menu
        label={`Actions for “${session.title}”`}
        face={<Icon name="more" />}
        className="icon-button"
        items={[
          ...labelling.items,
          { label: "Export as Markdown", icon: "download", href: exportOf(session) },
          { label: "Export as JSON", icon: "download", href: exportOf(session, "json") },
          { label: "Remove…", icon: "trash", run: () => onRemove(session) },
        ]}
      />
      {labelling.dialog}
    </li>
  );
}
