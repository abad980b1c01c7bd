// Annotations beneath a post, as in a code review.

import { useState } from "react";
import { Markdown } from "../markdown/Markdown";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { useBoardPage, type Annotation, type Post } from "./board";
import { NoteForm } from "./NoteForm";
import { Who } from "./People";
import { challengeState, threads, type Thread } from "./threads";
import { findingOf, type AnnotationType } from "./wording";

export function Threads({ post }: { post: Post }) {
  const all = threads(post.annotations);
  if (all.length === 0) return null;
  return (
    <ul className="threads" aria-label="Annotations">
      {all.map((thread) => (
        <li key={thread.head.annotationId}>
          <ThreadView post={post} thread={thread} />
        </li>
      ))}
    </ul>
  );
}

function ThreadView({ post, thread }: { post: Post; thread: Thread }) {
  const state = thread.head.type === "challenge" ? challengeState(thread) : undefined;
  return (
    <div className="thread" data-state={state}>
      <NoteView note={thread.head} state={state} />
      {thread.answers.length > 0 && (
        <ul className="answers">
          {thread.answers.map((answer) => (
            <li key={answer.annotationId}>
              <NoteView note={answer} />
            </li>
          ))}
        </ul>
      )}
      {state === "open" && <ChallengeActions post={post} challenge={thread.head} />}
    </div>
  );
}

const VERBS: Record<AnnotationType, string> = {
  validation: "finds it",
  challenge: "challenges it",
  corroboration: "corroborates it",
  rebuttal: "replies",
  withdrawal: "withdraws it",
  resolution: "settles it",
};

const STATE_LOOKS = { open: "warn", settled: "good", withdrawn: "" } as const;

function NoteView({
  note,
  state,
}: {
  note: Annotation;
  state?: keyof typeof STATE_LOOKS | undefined;
}) {
  return (
    <div className="note">
      <p className="note-head">
        <Who name={note.by} />
        <span className="muted">{VERBS[note.type]}</span>
        {note.result && (
          <span className={`badge ${findingOf(note.result).look}`}>
            {findingOf(note.result).word}
          </span>
        )}
        {state && <span className={`badge ${STATE_LOOKS[state]}`}>{state}</span>}
        <Age className="muted small spread" at={note.at} />
      </p>
      {note.body && <Markdown text={note.body} under={3} />}
    </div>
  );
}

/** What you can do about an open challenge: settle it, answer it, or take your own back. */
function ChallengeActions({ post, challenge }: { post: Post; challenge: Annotation }) {
  const { view, can } = useBoardPage();
  const [doing, setDoing] = useState<AnnotationType>();
  const you = view.you?.agentName;
  if (you === undefined) return null;
  const isMine = challenge.by === you;
  const isStanding = post.standing !== "withdrawn";
  const ways: { type: AnnotationType; label: string }[] = [];
  if (post.author === you && isStanding && can("annotate rebuttal"))
    ways.push({ type: "rebuttal", label: "Reply" });
  if (!isMine && can("annotate resolution")) ways.push({ type: "resolution", label: "Settle" });
  if (isMine && isStanding && can("annotate withdrawal"))
    ways.push({ type: "withdrawal", label: "Withdraw" });
  if (doing) {
    return (
      <NoteForm
        postId={post.postId}
        type={doing}
        challengeId={challenge.annotationId}
        isLate={!ways.some((way) => way.type === doing)}
        onClose={() => setDoing(undefined)}
      />
    );
  }
  if (ways.length === 0) return null;
  return (
    <div className="row thread-actions no-print">
      {ways.map((way) => (
        <Button key={way.type} look="quiet" onClick={() => setDoing(way.type)}>
          {way.label}
        </Button>
      ))}
    </div>
  );
}
