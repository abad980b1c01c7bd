// What a council is for and who belongs to it. Stands beside the thread, or folded above it
// where there is no room.

import { useId, type ReactNode } from "react";
import { Markdown } from "../markdown/Markdown";
import { useStored } from "../stored";
import { Icon } from "../ui/icons";
import { Face } from "./Face";
import type { CouncilView, Member } from "./useCouncil";
import { opening } from "./entries";

const WIDE = "(min-width: 1080px)";

export function Aside({ view }: { view: CouncilView }) {
  const models = view.members.filter((member) => member.model !== undefined);
  return (
    <aside className="council-aside" aria-label="About this council">
      <Fold name="charter" title="Charter" glance={opening(view.charter)}>
        <div className="council-charter" role="group" aria-label="Text of the charter" tabIndex={0}>
          <Markdown text={view.charter} under={2} />
        </div>
      </Fold>
      <Fold
        name="members"
        title="Members"
        glance={view.members.map((member) => member.name).join(", ") || "none"}
      >
        {view.members.length === 0 ? (
          <p className="muted small">No members. Anyone can post.</p>
        ) : (
          <ul className="council-members">
            {view.members.map((member) => (
              <MemberRow
                key={member.name}
                member={member}
                isAnswering={view.answering === member.name}
              />
            ))}
          </ul>
        )}
        {view.status === "open" && models.length > 0 && (
          <p className="muted small">
            Members with a model answer every post; @name asks just one.
          </p>
        )}
      </Fold>
    </aside>
  );
}

function MemberRow({ member, isAnswering }: { member: Member; isAnswering: boolean }) {
  return (
    <li>
      <Face name={member.name} isModel={member.model !== undefined} />
      <div>
        <div className="row">
          <strong>{member.name}</strong>
          {isAnswering && (
            <span className="muted small">
              <span className="dot live" /> answering
            </span>
          )}
        </div>
        {member.model === undefined ? (
          <div className="muted small">a person or outside agent</div>
        ) : (
          <div className="mono">{member.model}</div>
        )}
        {member.persona !== undefined && (
          <details className="small">
            <summary>
              Persona<span className="unseen"> of {member.name}</span>
            </summary>
            <Markdown text={member.persona} under={2} />
          </details>
        )}
      </div>
    </li>
  );
}

interface FoldProps {
  name: string;
  title: string;
  /** What is shown of it when it is folded. */
  glance: string;
  children: ReactNode;
}

function Fold({ name, title, glance, children }: FoldProps) {
  // Narrow and wide windows remember apart: there is room in one and not in the other.
  const width = window.matchMedia(WIDE).matches ? "wide" : "narrow";
  const [isOpen, setOpen] = useStored(`council-${name}.${width}`, width === "wide");
  const id = useId();
  return (
    <section className={isOpen ? "card council-fold open" : "card council-fold"} aria-label={title}>
      <h2>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "right"} />
          <span>{title}</span>
          {!isOpen && <span className="glance muted">{glance}</span>}
        </button>
      </h2>
      {/* It is there when folded, for print. */}
      <div id={id} className={isOpen ? "council-fold-inside" : "council-fold-inside folded"}>
        {children}
      </div>
    </section>
  );
}
