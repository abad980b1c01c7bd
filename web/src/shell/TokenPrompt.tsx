import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type FormEvent } from "react";
import { tokenWasTaken } from "../api/access";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Mark } from "../ui/icons";
import { useNow } from "../ui/time";
import { enter } from "./enter";
import { useTitle } from "./title";

/** Stands in place of the page until the server's token is given. It is kept in a cookie that no script can read. */
export function TokenPrompt() {
  useTitle("Sign in");
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const [until, setUntil] = useState(0);
  const now = useNow(until > 0);
  const waitMs = Math.max(0, until - now);

  async function give(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isAsking || waitMs > 0) return;
    setAsking(true);
    setWrong(undefined);
    const answer = await enter(token.trim());
    setAsking(false);
    if (answer.admitted) {
      // The page that was asked for comes next, and asks anew for what it was refused.
      tokenWasTaken();
      await queries.resetQueries();
      return;
    }
    setWrong(answer.wrong);
    setUntil(answer.waitMs === undefined ? 0 : Date.now() + answer.waitMs);
    form.current?.querySelector<HTMLInputElement>("input[type=password]")?.select();
  }

  return (
    <main className="token-prompt">
      <form ref={form} className="card stack" method="post" onSubmit={(event) => void give(event)}>
        <span className="mark">
          <Mark size={28} />
        </span>
        <h1>Access token required</h1>
        {/* Password managers keep a password under a name. */}
        <input
          type="text"
          name="username"
          autoComplete="username"
          value="plenary"
          readOnly
          hidden
        />
        <TextField
          label="Access token"
          name="password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
          wrong={wrong}
          hint="The value of PLENARY_TOKEN on the server."
        />
        <Button
          type="submit"
          look="primary"
          disabled={isAsking || waitMs > 0 || token.trim() === ""}
        >
          {waitMs > 0 ? `Wait ${Math.ceil(waitMs / 1_000)} s` : "Sign in"}
        </Button>
      </form>
    </main>
  );
}
