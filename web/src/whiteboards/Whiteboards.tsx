// All whiteboards: find one, or open one.

import { useState } from "react";
import { SessionList } from "../session/SessionList";
import { Button } from "../ui/Button";
import { some } from "../ui/time";
import { knownIdentities } from "./identity";
import { OpenBoard } from "./OpenBoard";
import "./whiteboards.css";

const SAMPLE = "Should we use mkdocs or mdBook for our documentation?";

export default function Whiteboards() {
  const [opening, setOpening] = useState<string>();
  const open = (
    <Button look="primary" icon="plus" onClick={() => setOpening("")}>
      Open a whiteboard
    </Button>
  );
  return (
    <SessionList
      kind="whiteboard"
      lead="Independent views first, then checking, debate and votes: a decision with its record."
      searches="topics and posts"
      statuses="phase"
      action={open}
      empty={{
        words:
          "People and agents write down what they think before they see each other’s posts, then debate, vote and decide.",
        action: (
          <div className="row">
            {open}
            <Button look="quiet" onClick={() => setOpening(SAMPLE)}>
              Try “{SAMPLE}”
            </Button>
          </div>
        ),
      }}
      about={({ id, name = id, project, facts }) => {
        const mine = knownIdentities(name).map((one) => one.name);
        return (
          <>
            <span className="mono">{name}</span>
            {project !== undefined && <span>{project}</span>}
            {facts?.openedBy !== undefined && <span>opened by {facts.openedBy}</span>}
            {facts?.people !== undefined && <span>{some(facts.people, "agent")}</span>}
            {facts?.posts !== undefined && <span>{some(facts.posts, "post")}</span>}
            {mine.length > 0 && <span className="mine">you are {mine.join(", ")} here</span>}
          </>
        );
      }}
    >
      {opening !== undefined && <OpenBoard topic={opening} onClose={() => setOpening(undefined)} />}
    </SessionList>
  );
}
