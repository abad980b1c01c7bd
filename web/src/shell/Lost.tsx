import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { isFromProxy, serverAnswered, useServerSuspected } from "../api/reachable";

const AGAIN_MS = 2_500;
const PATIENCE_MS = 8_000;

/** A quiet line while the server does not answer. What was on screen stays; all of it is renewed afterwards. */
export function Lost() {
  const queries = useQueryClient();
  const isSuspected = useServerSuspected();
  const [isLost, setLost] = useState(false);

  useEffect(() => {
    if (!isSuspected) {
      setLost(false);
      return undefined;
    }
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function ask(): Promise<void> {
      const answers = await isAnswering();
      if (ended) return;
      if (answers) {
        serverAnswered();
        await queries.invalidateQueries();
        return;
      }
      setLost(true);
      timer = setTimeout(() => void ask(), AGAIN_MS);
    }
    void ask();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [isSuspected, queries]);

  return (
    <div role="status" className="lost-place no-print">
      {isLost && (
        <p className="lost">
          <span className="dot waits live" />
          The server is not responding. Retrying…
        </p>
      )}
    </div>
  );
}

async function isAnswering(): Promise<boolean> {
  try {
    const response = await fetch("/api/access", { signal: AbortSignal.timeout(PATIENCE_MS) });
    return !isFromProxy(response.status);
  } catch {
    return false;
  }
}
