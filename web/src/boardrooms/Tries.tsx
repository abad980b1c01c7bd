// Several answers of one advisor to the same question, side by side. The verdict takes all of
// them, unless one is picked.

import { useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { isPending, sitter, type Advisor } from "./board";
import { useCommand } from "./commands";
import { SaidThen } from "./Rounds";

interface Props {
  board: string;
  advisor: Advisor;
  canPick: boolean;
}

export function Tries({ board, advisor, canPick }: Props) {
  const [isOpen, setOpen] = useState(false);
  const command = useCommand(board);
  const tries = [...(advisor.earlier ?? []).filter((one) => one.round === advisor.round), advisor];
  if (tries.length < 2) return null;
  const { picked } = advisor;
  return (
    <div className="row tries">
      <span className="muted small">
        {picked === undefined
          ? `Answer ${advisor.try} of ${tries.length}`
          : `Answer ${picked} of ${tries.length} picked`}
      </span>
      <Button className="no-print" onClick={() => setOpen(true)}>
        Compare answers<span className="unseen"> of {advisor.name}</span>
      </Button>
      {isOpen && (
        <Dialog
          title={`${advisor.name}: ${some(tries.length, "answer")}`}
          wide
          onClose={() => setOpen(false)}
        >
          <Wrong error={command.error} />
          <div className="try-columns" tabIndex={0} role="group" aria-label="Answers">
            {tries.map((one) => (
              <section key={one.try} aria-label={`Answer ${one.try}`}>
                <div className="row">
                  <h3>
                    {one.try} <span className="mono muted">{sitter(one)}</span>
                  </h3>
                  {picked === one.try ? (
                    <span className="badge good">Picked</span>
                  ) : (
                    canPick &&
                    one.status === "done" && (
                      <Button
                        aria-label={`Pick this one: answer ${one.try}`}
                        disabled={command.isPending}
                        onClick={() =>
                          command.mutate({ do: "pick", advisor: advisor.id, try: one.try })
                        }
                      >
                        Pick this one
                      </Button>
                    )
                  )}
                </div>
                {isPending({ ...advisor, status: one.status }) && (
                  <p className="aside-note">Still writing</p>
                )}
                <SaidThen said={one} />
              </section>
            ))}
          </div>
          {canPick && (
            <p className="muted small">
              Picking leaves this verdict as it is. Re-synthesize to have one written from the
              picked answer alone.
            </p>
          )}
        </Dialog>
      )}
    </div>
  );
}
