// Giving the token. This one request goes past the typed client, because a wrong token must
// not ask for a token again, and its answer says when to try next.

import { exactTime } from "../ui/time";

export type Answer =
  | { admitted: true }
  | { admitted: false; wrong: string; /** Before this no try counts. */ waitMs?: number };

const WAIT_WHEN_UNSAID_MS = 10_000;

export async function enter(token: string): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch("/api/access", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
  } catch {
    return refused("The server is not responding. Is it still running?");
  }
  if (response.ok) return { admitted: true };
  if (response.status === 401) return refused("That is not this server’s access token.");
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After"));
    const waitMs = seconds > 0 ? seconds * 1_000 : WAIT_WHEN_UNSAID_MS;
    const when = exactTime(Date.now() + waitMs);
    return { ...refused(`Too many wrong tokens. Try again after ${when}.`), waitMs };
  }
  return refused((await message(response)) ?? `The server returned ${response.status}.`);
}

function refused(wrong: string): { admitted: false; wrong: string } {
  return { admitted: false, wrong };
}

async function message(response: Response): Promise<string | undefined> {
  try {
    return ((await response.json()) as { error?: { message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}
