import "./councils.css";
import { useState } from "react";
import { SessionList } from "../session/SessionList";
import { Button } from "../ui/Button";
import { some } from "../ui/time";
import { OpenCouncil } from "./OpenCouncil";

export default function Councils() {
  const [isOpening, setOpening] = useState(false);
  const open = (
    <Button look="primary" icon="plus" onClick={() => setOpening(true)}>
      Open a council
    </Button>
  );
  return (
    <SessionList
      kind="council"
      lead="Long-lived threads with a charter, between people and models."
      searches="names and posts"
      action={open}
      empty={{
        words:
          "A council is a thread with a charter that stays open for as long as you need it. Members with a model answer every post; @name asks just one.",
        action: open,
      }}
      about={({ name, project, facts }) => (
        <>
          <span className="mono">{name}</span>
          {project !== undefined && <span>{project}</span>}
          {facts?.people !== undefined && <span>{some(facts.people, "member")}</span>}
          {facts?.posts !== undefined && <span>{some(facts.posts, "post")}</span>}
          {facts?.result !== undefined && <span>{facts.result}</span>}
        </>
      )}
    >
      {isOpening && <OpenCouncil onClose={() => setOpening(false)} />}
    </SessionList>
  );
}
