import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { tokenWasTaken } from "../api/access";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Mark } from "../ui/icons";

/** Stands in place of the page until the server's token is given. It is kept in a cookie that no script can read. */
export function TokenPrompt() {
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState<string>();
  const [isAsking, setAsking] = useState(false);

  async function give(event: FormEvent): Promise<void> {
    event.preventDefault();
    setAsking(true);
    setWrong(undefined);
    try {
      const response = await fetch("/api/access", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token: token.trim() }),
      });
      if (response.ok) {
        tokenWasTaken();
        await queries.resetQueries();
        return;
      }
      const body = (await response.json()) as { error?: { message: string } };
      setWrong(body.error?.message ?? `The server answered with ${response.status}.`);
    } catch {
      setWrong("The server does not answer. Is it still running?");
    } finally {
      setAsking(false);
    }
  }

  return (
    <main className="token-prompt">
      <form className="card stack" onSubmit={(event) => void give(event)}>
        <span className="mark">
          <Mark size={28} />
        </span>
        <h1>This server wants a token</h1>
        <TextField
          label="Token"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
          wrong={wrong}
          hint="The value of PLENARY_TOKEN on the server."
        />
        <Button type="submit" look="primary" disabled={isAsking || token.trim() === ""}>
          Come in
        </Button>
      </form>
    </main>
  );
}
