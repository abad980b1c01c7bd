import "./councils.css";
import { useMutation } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { asked, client } from "../api/client";
import { Markdown } from "../markdown/Markdown";
import { SessionPage } from "../session/SessionPage";
import { Notice, Wrong } from "../ui/Notice";
import { useAnswer } from "./useAnswer";
import { Aside } from "./Aside";
import { Composer } from "./Composer";
import { useCouncil, type CouncilPage } from "./useCouncil";
import { CouncilHead } from "./CouncilHead";
import { Answering } from "./Posts";
import { useSender } from "./useSender";
import { Thread } from "./Thread";
import type { Post } from "./entries";

export default function Council({ council }: { council: string }) {
  const { query, ...reading } = useCouncil(council);
  return (
    <SessionPage
      kind="council"
      query={query}
      id={({ view }) => view.sessionId}
      title={({ view }) => view.council}
    >
      {(page) => <Open page={page} error={query.error} {...reading} />}
    </SessionPage>
  );
}

interface OpenProps extends Pick<
  ReturnType<typeof useCouncil>,
  "turnEnded" | "readBack" | "renew"
> {
  page: CouncilPage;
  error: unknown;
}

function Open({ page, error, turnEnded, readBack, renew }: OpenProps) {
  const { view, thread } = page;
  const sender = useSender(view.sessionId);
  const [replyTo, setReplyTo] = useState<Post>();
  const [written, setWritten] = useState<number>();
  const isOpen = view.status === "open";
  const answer = useAnswer(view, turnEnded);
  const senders = useMemo(
    () => [...new Set(thread.posts.filter((post) => post.depth === 0).map((post) => post.sender))],
    [thread.posts],
  );
  const stop = useMutation({
    mutationFn: () =>
      asked(client.POST("/api/sessions/{id}/stop", { params: { path: { id: view.sessionId } } })),
    onSuccess: renew,
  });
  const reply = useCallback((post: Post) => {
    setReplyTo(post);
    document.querySelector<HTMLElement>(".council-composer textarea")?.focus();
  }, []);
  const canPost = view.allowed.includes("post");
  return (
    <div className="council">
      <CouncilHead page={page} connection={answer.connection} readBack={readBack} renew={renew} />
      <Aside view={view} />
      <Thread
        page={page}
        me={sender.tokens[sender.name] === undefined ? undefined : sender.name}
        readBack={readBack}
        onReply={canPost ? reply : undefined}
        written={written}
      >
        <Wrong error={error ?? stop.error} />
        {view.answering !== undefined && (
          <Answering
            key={view.answering}
            member={view.answering}
            model={view.members.find((member) => member.name === view.answering)?.model}
            text={answer.text}
            held={answer.held}
            onStop={
              view.allowed.includes("stop") && !stop.isPending ? () => stop.mutate() : undefined
            }
          />
        )}
        {!isOpen && (
          <section className="card council-summary" aria-label="Summary">
            <p className="eyebrow">Closed{view.summary === undefined ? "" : " · summary"}</p>
            {view.summary === undefined ? (
              <p className="muted">It was closed without a summary.</p>
            ) : (
              <Markdown text={view.summary} under={2} serif />
            )}
          </section>
        )}
      </Thread>
      {isOpen && canPost && (
        <Composer
          view={view}
          sender={sender}
          senders={senders}
          replyTo={replyTo}
          onReplyEnd={() => setReplyTo(undefined)}
          onPosted={(posted) => {
            setWritten(posted.sequence);
            renew();
          }}
        />
      )}
      {isOpen && !canPost && <Notice>This council is full. Close it and open a new one.</Notice>}
    </div>
  );
}
