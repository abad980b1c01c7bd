import { Glyph } from "../ui/icons";
import { count } from "../ui/time";
import type { Agent } from "./useAgents";

export function AgentCard({ agent, onOpen }: { agent: Agent; onOpen: () => void }) {
  const bounds = boundsOf(agent);
  return (
    <li className="card library-card">
      <div className="library-card-head">
        <Glyph role={agent.isFacilitator ? "facilitator" : "participant"} />
        <h3>
          <button type="button" onClick={onOpen}>
            {agent.name}
          </button>
        </h3>
        {agent.isBuiltIn && <span className="badge">Built-in</span>}
      </div>
      <p>{agent.description || <span className="muted">No description</span>}</p>
      <p className="library-card-foot muted small">
        <span className={agent.model ? "mono" : undefined}>{speaksBy(agent)}</span>
        {agent.formats.map((format) => (
          <span key={format}>{format}</span>
        ))}
        {bounds.map((bound) => (
          <span key={bound} className="number">
            {bound}
          </span>
        ))}
      </p>
    </li>
  );
}

export function speaksBy(agent: Agent): string {
  return agent.model ?? (agent.tier ? `${agent.tier} tier` : "any model");
}

export function boundsOf(agent: Agent): string[] {
  const { turnSeconds, outputTokens, budgetTokens } = agent;
  return [
    ...(turnSeconds === undefined ? [] : [`${turnSeconds} s per turn`]),
    ...(outputTokens === undefined ? [] : [`${count(outputTokens)} tokens per answer`]),
    ...(budgetTokens === undefined ? [] : [`${count(budgetTokens)} tokens per session`]),
  ];
}
