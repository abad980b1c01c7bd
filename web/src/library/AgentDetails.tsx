import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { asked, client } from "../api/client";
import { Markdown } from "../markdown/Markdown";
import { copy, toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { Dialog } from "../ui/Dialog";
import { Loading } from "../ui/Empty";
import { Notice, Wrong } from "../ui/Notice";
import { boundsOf, speaksBy } from "./AgentCard";
import { useAgent, type Agent } from "./useAgents";
import { useTiers } from "../api/known";

interface Props {
  id: string;
  onClose: () => void;
  onEdit: (agent: Agent) => void;
  onCopy: (agent: Agent) => void;
}

export function AgentDetails({ id, onClose, onEdit, onCopy }: Props) {
  const query = useAgent(id);
  const agent = query.data;
  const [isRemoving, setRemoving] = useState(false);
  if (agent && isRemoving) {
    return <RemoveAgent agent={agent} onKeep={() => setRemoving(false)} onGone={onClose} />;
  }
  return (
    <Dialog
      title={agent?.name ?? "Agent"}
      wide
      onClose={onClose}
      foot={
        agent && (
          <>
            {!agent.isBuiltIn && (
              <>
                <Button look="danger" icon="trash" onClick={() => setRemoving(true)}>
                  Remove…
                </Button>
                <Button icon="edit" onClick={() => onEdit(agent)}>
                  Edit
                </Button>
              </>
            )}
            <Button icon="copy" onClick={() => onCopy(agent)}>
              Make a copy
            </Button>
            <Link className="button primary" href={wizardFor(agent)}>
              Use in a discussion
            </Link>
          </>
        )
      }
    >
      <Wrong error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Loading />}
      {agent && <Inside agent={agent} />}
    </Dialog>
  );
}

/** The wizard of discussions reads whom to begin with. */
function wizardFor(agent: Agent): string {
  const seat = agent.isFacilitator ? "facilitator" : "with";
  return `/discussions/new?${seat}=${encodeURIComponent(agent.id)}`;
}

function Inside({ agent }: { agent: Agent }) {
  const tier = useTiers().data?.find((one) => one.tier === agent.tier);
  return (
    <div className="stack">
      {agent.description !== "" && <p>{agent.description}</p>}
      {agent.isBuiltIn && <Notice>Built-in agents cannot be changed. Make a copy to edit.</Notice>}
      <dl className="library-facts">
        <Fact name="Model">
          {speaksBy(agent)}
          {tier?.model !== undefined && <span className="mono"> now {tier.model}</span>}
        </Fact>
        <Fact name="Best for">{agent.formats.join(", ") || "any format"}</Fact>
        <Fact name="Limits">{boundsOf(agent).join(", ") || "set by the discussion"}</Fact>
        {agent.workspace && (
          <Fact name="Workspace">
            <span className="mono">{agent.workspace.folder ?? "no folder"}</span>
            {agent.workspace.tools.length > 0 && <> with {agent.workspace.tools.join(", ")}</>}
          </Fact>
        )}
        <Fact name="ID">
          <span className="mono">{agent.id}</span>
        </Fact>
      </dl>
      <div className="row">
        <h3>Persona</h3>
        <span className="spread" />
        <Button look="quiet" icon="copy" onClick={() => void copy(agent.persona ?? "")}>
          Copy the text
        </Button>
      </div>
      <div className="library-persona" tabIndex={0} role="group" aria-label="Persona">
        <Markdown text={agent.persona ?? ""} under={3} />
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface RemoveProps {
  agent: Agent;
  onKeep: () => void;
  onGone: () => void;
}

function RemoveAgent({ agent, onKeep, onGone }: RemoveProps) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      asked(client.DELETE("/api/agents/{id}", { params: { path: { id: agent.id } } })),
    onSuccess: () => {
      toast(`${agent.name} removed`);
      onGone();
      void queries.invalidateQueries({ queryKey: ["agents", "list"] });
    },
  });
  return (
    <Confirm
      title={`Remove ${agent.name}`}
      action="Remove"
      doing="Removing…"
      icon="trash"
      look="danger"
      isBusy={remove.isPending}
      error={remove.error}
      onClose={onKeep}
      onSure={() => remove.mutate()}
    >
      <p>It will be permanently removed. Sessions it took part in keep their own copy.</p>
    </Confirm>
  );
}
