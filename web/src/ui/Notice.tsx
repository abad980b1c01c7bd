import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { Button } from "./Button";
import { Icon } from "./icons";
import { Inline } from "./Inline";

interface Props {
  look?: "plain" | "bad" | "warn";
  children: ReactNode;
  /** A button beside it. */
  action?: ReactNode;
}

export function Notice({ look = "plain", children, action }: Props) {
  return (
    <div className={`notice ${look}`} role={look === "bad" ? "alert" : undefined}>
      {look !== "plain" && <Icon name="warning" />}
      <div>{children}</div>
      {action && <div className="spread">{action}</div>}
    </div>
  );
}

/** Why something could not be done, with the server's advice. Nothing when there is no error. */
export function Wrong({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null;
  const problem = error instanceof Problem ? error : undefined;
  return (
    <Notice look="bad" action={onRetry && <Button onClick={onRetry}>Try again</Button>}>
      {problem && problem.fields.length > 0 ? (
        // The message only says the same in one line.
        <ul>
          {problem.fields.map((one) => (
            <li key={one.field}>
              <code>{one.field}</code> {one.problem}
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <Inline text={error instanceof Error ? error.message : String(error)} />
        </p>
      )}
      {problem?.hint && problem.status !== 404 && (
        <p className="hint">
          <Inline text={problem.hint} />
        </p>
      )}
    </Notice>
  );
}
