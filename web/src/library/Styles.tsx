import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "../ui/Button";
import { Wrong } from "../ui/Notice";
import { fetchAgent, useAgents, type Agent } from "./useAgents";

interface Props {
  isFacilitator: boolean;
  chosen: string | undefined;
  /** `undefined` for none; with the names that are taken. */
  onChoose: (agent: Agent | undefined, names: string[]) => void;
}

/** Built-in agents to begin with: one click fills in everything. */
export function Styles({ isFacilitator, chosen, onChoose }: Props) {
  const queries = useQueryClient();
  const list = useAgents({ facilitator: isFacilitator });
  const agents = list.data?.pages.flatMap((page) => page.data) ?? [];
  const names = agents.map((agent) => agent.name);
  const fill = useMutation({
    mutationFn: (id: string) => fetchAgent(queries, id),
    onSuccess: (agent) => onChoose(agent, names),
  });
  return (
    <div className="stack" role="group" aria-label="Start from">
      <p className="legend">Start from</p>
      <div className="row">
        <Button aria-pressed={chosen === undefined} onClick={() => onChoose(undefined, names)}>
          Nothing
        </Button>
        {agents
          .filter((agent) => agent.isBuiltIn)
          .map((agent) => (
            <Button
              key={agent.id}
              aria-pressed={chosen === agent.id}
              title={agent.description}
              disabled={fill.isPending}
              onClick={() => fill.mutate(agent.id)}
            >
              {agent.name}
            </Button>
          ))}
      </div>
      <Wrong error={fill.error ?? list.error} />
    </div>
  );
}
