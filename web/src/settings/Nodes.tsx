import { useQuery } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import { Loading } from "../ui/Empty";
import { moment, some } from "../ui/time";

const POLL_MS = 5_000;
const WORDS = {
  live: "Running",
  draining: "Shutting down",
  gone: "Gone; its sessions move to the others",
} as const;

/** The processes that work on the same store. Only the operator is told of them. */
export function Nodes() {
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: () => asked(client.GET("/api/nodes")),
    retry: false,
    refetchInterval: ({ state }) => (state.error === null ? POLL_MS : false),
  });
  if (nodes.error !== null) return null;
  return (
    <section className="card" aria-labelledby="settings-nodes">
      <h2 id="settings-nodes">Nodes</h2>
      <p className="muted">The servers that share this store, and the sessions each one runs.</p>
      {nodes.isLoading && <Loading />}
      <ul className="list settings-list">
        {nodes.data?.map((node) => (
          <li key={node.name}>
            <div>
              <strong>{node.name.slice(0, 8)}</strong>
              {node.here && " (this one)"}
              <p className="muted">
                {[
                  WORDS[node.state],
                  node.version !== undefined && `version ${node.version}`,
                  `since ${moment(node.since)}`,
                  node.address,
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </p>
            </div>
            <span>{some(node.sessions, "session")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
