import { useState } from "react";
import { remember, useRememberedNames } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { sorted, type Remembered } from "./remembered";

export function Memory() {
  const groups = sorted(useRememberedNames());
  const [asking, setAsking] = useState<Remembered>();
  const forget = (group: Remembered) => {
    for (const name of group.names) remember(name, undefined);
    setAsking(undefined);
    toast("Forgotten");
  };
  return (
    <section className="card" aria-labelledby="settings-memory">
      <h2 id="settings-memory">Stored in this browser</h2>
      <p className="muted">Stored only here. The server does not have it.</p>
      {groups.length === 0 && <p>Nothing yet.</p>}
      <ul className="list settings-list">
        {groups.map((group) => (
          <li key={group.title}>
            <div>
              <h3>{group.title}</h3>
              <p className="muted">{group.found}</p>
            </div>
            <Button
              aria-label={`Forget: ${group.title}`}
              onClick={() => (group.warning === undefined ? forget(group) : setAsking(group))}
            >
              Forget
            </Button>
          </li>
        ))}
      </ul>
      {asking && (
        <Confirm
          title={`Forget: ${asking.title}`}
          action="Forget"
          look="danger"
          onClose={() => setAsking(undefined)}
          onSure={() => forget(asking)}
        >
          <p>{asking.found}</p>
          <p>{asking.warning}</p>
        </Confirm>
      )}
    </section>
  );
}
