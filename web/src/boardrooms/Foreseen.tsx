import { useQuery } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import { range, roughly } from "../ui/estimate";
import { money } from "../ui/money";
import { useSettled } from "../ui/settled";
import { some } from "../ui/time";
import type { NewBoardroom } from "./commands";

const SETTLE_MS = 500;

interface Props {
  /** What would be sent to convene it. */
  body: NewBoardroom;
  /** Where there is room for no more. */
  isShort?: boolean;
}

/** What a board would take, before it is convened. Without a question there is nothing to say. */
export function Foreseen({ body, isShort = false }: Props) {
  // Of images and PDFs the server would have to read all, for a number that is rough anyway.
  const isKnown = body.prompt.trim() !== "" && !body.context?.some((file) => "data" in file);
  const text = useSettled(isKnown ? JSON.stringify(body) : "", SETTLE_MS);
  const { data, isError } = useQuery({
    queryKey: ["estimates", "boardroom", text],
    queryFn: ({ signal }) =>
      asked(
        client.POST("/api/boardrooms/estimate", { body: JSON.parse(text) as NewBoardroom, signal }),
      ),
    enabled: isKnown && text !== "",
    retry: false,
    staleTime: 60_000,
    // The key is as long as what was written, files and all: only the last one is worth keeping.
    gcTime: 0,
    placeholderData: (before) => before,
  });
  // What is wrong with it is said when it is sent.
  if (!data || !isKnown || isError) return null;
  const { calls, inputTokens, outputTokens, cost, currency, notes } = data;
  const tokens = {
    low: inputTokens.low + outputTokens.low,
    high: inputTokens.high + outputTokens.high,
  };
  const price = cost && range(cost, (value) => money(value, currency, cost.high));
  const words = [
    some(calls.high, "call"),
    `${range(tokens, roughly)} tokens`,
    ...(price === undefined ? [] : [price]),
  ];
  if (isShort && price === undefined) return null;
  return (
    <span className="foreseen muted small number" title={[words.join(", "), ...notes].join("\n")}>
      <span className="unseen">Estimate: </span>
      {isShort ? `About ${price}` : words.join(", ")}
    </span>
  );
}
