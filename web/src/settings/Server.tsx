import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tokenIsWanted } from "../api/access";
import { asked, client } from "../api/client";
import { forgetAllBut } from "../stored";
import { Button } from "../ui/Button";
import { Wrong } from "../ui/Notice";
import { SINGLE_KEYS } from "../ui/shortcuts";

export function Server() {
  const queries = useQueryClient();
  const access = useQuery({
    queryKey: ["access"],
    queryFn: () => asked(client.GET("/api/access")),
  });
  const version = useVersion();
  const leaving = useMutation({
    mutationFn: () => asked(client.DELETE("/api/access")),
    onSuccess: () => {
      // Nothing that was read, written or proven stays behind for whoever comes next.
      queries.clear();
      forgetAllBut("theme", SINGLE_KEYS);
      tokenIsWanted();
    },
  });
  return (
    <section className="card stack" aria-labelledby="settings-server">
      <h2 id="settings-server">This server</h2>
      <p>
        Plenary{version.data !== undefined && ` ${version.data}`}. Everything here is also available
        through the <a href="/docs">documented API</a>, described by{" "}
        <a href="/api/openapi.json">openapi.json</a>.
      </p>
      {access.data?.tokenWanted === true && (
        <div className="row">
          <p>
            You are signed in with the server’s access token, kept in a cookie. Signing out also
            removes your drafts and the tokens of the agents you act as.
          </p>
          <Button disabled={leaving.isPending} onClick={() => leaving.mutate()}>
            Sign out
          </Button>
        </div>
      )}
      {access.data?.tokenWanted === false && (
        <p className="muted">
          No access token is required: the server listens on this machine only.
        </p>
      )}
      <Wrong error={leaving.error} />
    </section>
  );
}

/** As the document of the interface gives it. */
function useVersion() {
  return useQuery({
    queryKey: ["version"],
    queryFn: async () => {
      const response = await fetch("/api/openapi.json");
      const document = (await response.json()) as { info: { version: string } };
      return document.info.version;
    },
    staleTime: Infinity,
  });
}
