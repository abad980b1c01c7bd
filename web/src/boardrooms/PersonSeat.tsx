import { forgetSent } from "../api/write";
import { useKeptText } from "../stored";
import { Button } from "../ui/Button";
import { GrowingArea } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { duration, moment, useNow } from "../ui/time";
import type { Advisor } from "./board";
import { useCommand } from "./commands";

interface Props {
  board: string;
  advisor: Advisor;
  canReply: boolean;
}

/** A seat where a person's answer is awaited. What is written stays until it is sent. */
export function PersonSeat({ board, advisor, canReply }: Props) {
  const place = `reply.${board}.${advisor.id}`;
  const [text, setText] = useKeptText(place);
  const command = useCommand(board, place, (sent) =>
    forgetSent<string>(place, (kept) => sent.do === "reply" && kept.trim() === sent.text),
  );
  const who = advisor.person ?? "a person";
  return (
    <form
      className="person-seat"
      onSubmit={(event) => {
        event.preventDefault();
        command.mutate({ do: "reply", advisor: advisor.id, text: text.trim() });
      }}
    >
      <p>
        <strong>Waiting for {who}</strong>
      </p>
      {advisor.replyBy !== undefined && <Deadline at={advisor.replyBy} />}
      {canReply && (
        <>
          <GrowingArea
            className="input"
            aria-label={`Answer as ${who}`}
            placeholder={`${who}’s answer, in Markdown`}
            rows={5}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Wrong error={command.error} />
          <div className="row">
            <Button type="submit" look="primary" disabled={command.isPending || text.trim() === ""}>
              Answer as {who}
            </Button>
            <span className="muted small">Saved in this browser until you send it.</span>
          </div>
        </>
      )}
    </form>
  );
}

/** How long somebody still has. */
export function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(true);
  return (
    <p className="muted small number">
      {left > 0 ? (
        <>
          {duration(left)} left, until <time dateTime={at}>{moment(at)}</time>
        </>
      ) : (
        "Time is up."
      )}
    </p>
  );
}
