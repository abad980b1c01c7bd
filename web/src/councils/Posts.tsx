// What stands in a thread: posts, turns that ended without one, and the answer that is being
// written.

import { memo } from "react";
import type { Retrying, Waiting } from "../live/session";
import { BEGUN_AGAIN, useBegunAgain, useText, type GrowingText } from "../live/texts";
import { Markdown } from "../markdown/Markdown";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/icons";
import { copy } from "../ui/announce";
import { Cut, Spent } from "../ui/Spent";
import { moment, timeOfDay } from "../ui/time";
import { Face } from "./Face";
import { firstLine, type Change, type Post, type Silence } from "./entries";

/** A chain of answers to answers ends here. */
const RELAY_DEPTH = 3;

interface PostProps {
  post: Post;
  /** The post that this one answers, when it is here. */
  answers: Post | undefined;
  model: string | undefined;
  isMine: boolean;
  onReply: ((post: Post) => void) | undefined;
  onJump: (sequence: number) => void;
}

export const PostCard = memo(function PostCard(props: PostProps) {
  const { post, answers, model, isMine, onReply, onJump } = props;
  return (
    <article
      className={model === undefined ? "council-post by-hand" : "council-post"}
      id={`post-${post.sequence}`}
      tabIndex={-1}
      aria-labelledby={`post-${post.sequence}-sender`}
    >
      <Face name={post.sender} isModel={model !== undefined} />
      <div className="council-post-body">
        <header>
          <h3 id={`post-${post.sequence}-sender`}>{post.sender}</h3>
          {model !== undefined && <span className="mono">{model}</span>}
          {isMine && <span className="muted small">you</span>}
          <a
            className="muted small number"
            href={`#post-${post.sequence}`}
            title={`${moment(post.at)}: link to this post`}
          >
            <time dateTime={post.at}>{timeOfDay(post.at)}</time>
            <span>
              <span className="unseen">, post </span>#{post.sequence}
            </span>
          </a>
          <span className="council-post-actions no-print">
            {onReply && (
              <IconButton
                icon="reply"
                label={`Reply to ${post.sender}, post ${post.sequence}`}
                onClick={() => onReply(post)}
              />
            )}
            <IconButton
              icon="copy"
              label={`Copy post ${post.sequence}`}
              onClick={() => void copy(post.body)}
            />
          </span>
        </header>
        {post.replyTo !== undefined && (
          <Quote sequence={post.replyTo} post={answers} onJump={onJump} />
        )}
        <Markdown text={post.body} under={3} />
        <Cut of={post} />
        <Asked post={post} />
        {post.usage && <Spent className="spent" usage={post.usage} />}
      </div>
    </article>
  );
});

/** A line of the post that is answered; pressing it goes there. */
export function Quote({
  sequence,
  post,
  onJump,
}: {
  sequence: number;
  post: Post | undefined;
  onJump: (sequence: number) => void;
}) {
  return (
    <button type="button" className="council-quote" onClick={() => onJump(sequence)}>
      <Icon name="reply" size={12} />
      {post ? (
        <span>
          <span className="unseen">In reply to </span>
          <strong>{post.sender}</strong> {firstLine(post.body)}
        </span>
      ) : (
        <span>In reply to post {sequence}</span>
      )}
    </button>
  );
}

function Asked({ post }: { post: Post }) {
  const leftOut = post.leftOut ?? [];
  if (post.addressed.length + leftOut.length === 0) return null;
  const why =
    post.depth >= RELAY_DEPTH
      ? "a chain of answers stops after three"
      : "one post can ask at most five members";
  return (
    <p className="muted small council-asked">
      {post.addressed.length > 0 && <>To {listed(post.addressed)}. </>}
      {leftOut.length > 0 && (
        <>
          Not asked: {listed(leftOut)}, because {why}.
        </>
      )}
    </p>
  );
}

const LIST = new Intl.ListFormat("en");

function listed(names: readonly string[]): string {
  return LIST.format(names);
}

const ENDS: Record<Silence["why"], string> = {
  passed: "passed",
  failed: "could not answer",
  stopped: "was stopped",
};

export const SilenceLine = memo(function SilenceLine({ silence }: { silence: Silence }) {
  const text = silence.text.trim();
  return (
    <div className="council-silence" data-why={silence.why}>
      {silence.why === "failed" && <Icon name="warning" size={12} />}
      {silence.why === "stopped" && text !== "" ? (
        <details>
          <summary>{silence.member} was stopped partway through its answer</summary>
          <Markdown text={text} under={3} />
        </details>
      ) : (
        <p>
          {silence.member} {ENDS[silence.why]}
          {text !== "" && (silence.why === "passed" ? <>: “{firstLine(text)}”</> : <>: {text}</>)}
        </p>
      )}
    </div>
  );
});

/** What whoever opened the council has changed in it. */
export const ChangeLine = memo(function ChangeLine({ change }: { change: Change }) {
  const { added = [], removed = [] } = change;
  const parts = [
    change.charter && "charter edited",
    added.length > 0 && `${listed(added)} added`,
    removed.length > 0 && `${listed(removed)} removed`,
  ].filter((part) => part !== false && part !== undefined);
  const words = parts.join("; ");
  return (
    <p className="council-silence" title={moment(change.at)}>
      {words.charAt(0).toUpperCase() + words.slice(1)}
    </p>
  );
});

interface AnsweringProps {
  member: string;
  model: string | undefined;
  text: GrowingText | undefined;
  held: Retrying | Waiting | undefined;
  onStop: (() => void) | undefined;
}

/** The answer that a member is writing. */
export function Answering({ member, model, text, held, onStop }: AnsweringProps) {
  return (
    <article
      className="council-post answering"
      aria-busy="true"
      aria-label={`${member} is answering`}
    >
      <Face name={member} isModel />
      <div className="council-post-body">
        <header>
          <h3>{member}</h3>
          {model !== undefined && <span className="mono">{model}</span>}
          <span className="muted small">
            <span className="dot live" /> is answering…
          </span>
          {onStop && (
            <span className="council-post-actions shown no-print">
              <Button look="quiet" icon="stop" onClick={onStop}>
                Stop
              </Button>
            </span>
          )}
        </header>
        {held && <p className="muted small">{holding(held)}</p>}
        {text && <GrowingMarkdown text={text} />}
      </div>
    </article>
  );
}

function GrowingMarkdown({ text }: { text: GrowingText }) {
  const shown = useText(text);
  return (
    <>
      {useBegunAgain(text) && <p className="muted small">{BEGUN_AGAIN}</p>}
      <Markdown text={shown} live under={3} />
    </>
  );
}

function holding(held: Retrying | Waiting): string {
  if ("place" in held) return `Its model is busy: number ${held.place} in line.`;
  return `Retrying after attempt ${held.attempt}: ${held.message}`;
}
