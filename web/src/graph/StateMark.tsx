import "../style/graph.css";
import { Icon } from "../ui/icons";

interface Props {
  /** `awaited`: it waits for a person. */
  status: string;
  word: string;
  isSmall?: boolean;
}

/** How a step stands, by shape and colour; the word is for those who hear the page. */
export function StateMark({ status, word, isSmall = false }: Props) {
  return (
    <span className={isSmall ? "state small" : "state"} data-status={status} title={word}>
      {status === "done" && <Icon name="check" size={isSmall ? 8 : 10} />}
      {status === "failed" && <Icon name="close" size={isSmall ? 8 : 10} />}
      {status === "skipped" && <span aria-hidden="true">»</span>}
      <span className="unseen">{word}</span>
    </span>
  );
}
