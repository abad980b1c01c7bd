import { useEffect, useState } from "react";
import type { Connection } from "../live/follow";
import { SessionHead } from "../session/SessionHead";
import { Button } from "../ui/Button";
import { some } from "../ui/time";
import type { CouncilPage } from "./useCouncil";
import { CloseCouncil } from "./Dialogs";
import { EditCouncil } from "./EditCouncil";
import { forget } from "./useSender";

interface Props {
  page: CouncilPage;
  connection: Connection;
  readBack: (to?: number) => Promise<void>;
  renew: () => void;
}

export function CouncilHead({ page, connection, readBack, renew }: Props) {
  const { view } = page;
  const [isClosing, setClosing] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    if (!isPrinting) return;
    setPrinting(false);
    window.print();
  }, [isPrinting]);
  return (
    <>
      <SessionHead
        session={{
          id: view.sessionId,
          kind: "council",
          name: view.council,
          title: view.council,
        }}
        about={
          <>
            {view.project !== undefined && `${view.project} · `}
            {some(view.last, "post")}
          </>
        }
        status={view.status}
        connection={connection}
        took={view}
        // All of it, not only what is here.
        onPrint={() => void readBack(1).then(() => setPrinting(true))}
        onRemoved={() => forget(view.sessionId)}
        actions={
          <>
            {view.allowed.includes("change") && (
              <Button onClick={() => setEditing(true)}>Edit…</Button>
            )}
            {view.allowed.includes("close") && (
              <Button onClick={() => setClosing(true)}>Close…</Button>
            )}
          </>
        }
      />
      {isEditing && (
        <EditCouncil
          view={view}
          onClose={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            renew();
          }}
        />
      )}
      {isClosing && (
        <CloseCouncil
          view={view}
          onClose={() => setClosing(false)}
          onDone={() => {
            setClosing(false);
            renew();
          }}
        />
      )}
    </>
  );
}
