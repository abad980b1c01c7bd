// A shelf of stored agents: those who take part in discussions, or those who lead them.

import { useDeferredValue, useState } from "react";
import { useLocation } from "wouter";
import { useAsked } from "../shell/search";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { AgentCard } from "./AgentCard";
import { AgentDetails } from "./AgentDetails";
import { AgentForm, type Start } from "./AgentForm";
import { useAgents } from "./useAgents";

export function Agents({ isFacilitator }: { isFacilitator: boolean }) {
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const list = useAgents({ facilitator: isFacilitator, ...(q !== "" && { q }) });
  const agents = list.data?.pages.flatMap((page) => page.data) ?? [];
  // Which one is looked at stands in the address, so that it can be linked and gone back from.
  const [here, go] = useLocation();
  const shown = useAsked().get("agent");
  const show = (id: string | undefined) =>
    go(id === undefined ? here : `${here}?${new URLSearchParams({ agent: id })}`);
  const [form, setForm] = useState<Start>();
  const own = agents.filter((agent) => !agent.isBuiltIn);
  const builtIn = agents.filter((agent) => agent.isBuiltIn);
  const create = (
    <Button look="primary" icon="plus" onClick={() => setForm({ from: "nothing", isFacilitator })}>
      {isFacilitator ? "New facilitator" : "New agent"}
    </Button>
  );
  return (
    <>
      <div className="library-head">
        <p className="muted">
          {isFacilitator
            ? "Facilitators lead discussions: they choose who speaks next and write the conclusion."
            : "Agents take part in discussions and councils. Each is a persona and a model."}
        </p>
        <div className="library-tools">
          <TextField
            label={isFacilitator ? "Search facilitators" : "Search agents"}
            labelUnseen
            type="search"
            placeholder="Search"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          {create}
        </div>
      </div>
      <Wrong error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the library" />}
      <Group title="Yours" agents={own} onOpen={show} />
      <Group title="Built-in" agents={builtIn} onOpen={show} />
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
      {list.isSuccess && agents.length === 0 && (
        <Empty action={q === "" ? create : undefined}>
          {q === "" ? "No agents yet." : "No agents match. Try fewer words."}
        </Empty>
      )}
      {shown !== null && form === undefined && (
        <AgentDetails
          id={shown}
          onClose={() => show(undefined)}
          onEdit={(agent) => setForm({ from: "edit", agent })}
          onCopy={(agent) => setForm({ from: "copy", agent })}
        />
      )}
      {form && (
        <AgentForm
          start={form}
          onClose={() => setForm(undefined)}
          onSaved={(agent) => {
            setForm(undefined);
            show(agent.id);
          }}
        />
      )}
    </>
  );
}

interface GroupProps {
  title: string;
  agents: React.ComponentProps<typeof AgentCard>["agent"][];
  onOpen: (id: string) => void;
}

function Group({ title, agents, onOpen }: GroupProps) {
  if (agents.length === 0) return null;
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul className="library-cards">
        {agents.map((agent) => (
          <AgentCard key={agent.id} agent={agent} onOpen={() => onOpen(agent.id)} />
        ))}
      </ul>
    </section>
  );
}
