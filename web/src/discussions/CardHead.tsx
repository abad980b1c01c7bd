import type { ReactNode } from "react";
import { Glyph } from "../ui/icons";
import { duration, timeOfDay } from "../ui/time";
import { shortModel } from "../ui/ModelSelect";
import { roleName } from "./words";

interface Props {
  name: string;
  role: string;
  model?: string | undefined;
  round?: number | undefined;
  at?: string | undefined;
  latencyMs?: number | undefined;
  /** What is going on now. */
  state?: string;
  /** At the end. */
  action?: ReactNode;
}

/** Who speaks, in which role, by which model, and when. */
export function CardHead({ name, role, model, round, at, latencyMs, state, action }: Props) {
  return (
    <header className="turn-head">
      <Glyph role={role} />
      <div className="turn-who">
        <h3>{name}</h3>
        <span className="badge role">{roleName(role)}</span>
        {model !== undefined && (
          <span className="mono" title={model}>
            {shortModel(model)}
          </span>
        )}
      </div>
      <span className="turn-when muted small number">
        {state !== undefined && (
          <span className="turn-state">
            <span className="dot live" />
            {state}
          </span>
        )}
        {round !== undefined && round > 0 && <span>Round {round}</span>}
        {latencyMs !== undefined && <span className="latency">{duration(latencyMs)}</span>}
        {at !== undefined && <time dateTime={at}>{timeOfDay(at)}</time>}
        {action}
      </span>
    </header>
  );
}
