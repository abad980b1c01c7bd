// One post: what it says, how it stands, what was said about it, and what you can do.

import { useLayoutEffect, useRef, useState } from "react";
import { Markdown } from "../markdown/Markdown";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { cardId, useBoardPage, type Post } from "./board";
import { NoteForm } from "./NoteForm";
import { Who } from "./People";
import { PHASES } from "./phases";
import { Threads } from "./ThreadView";
import { VoteBox, Votes } from "./Voting";
import { severityOf, standingOf, typeOf, type AnnotationType } from "./wording";

export function PostCard({ post }: { post: Post }) {
  const { agentOf } = useBoardPage();
  const id = cardId(post.postId);
  return (
    <article
      className="card post"
      id={id}
      data-post={post.postId}
      data-role={agentOf(post.author)?.role ?? "person"}
      data-standing={post.standing}
      aria-labelledby={`${id}-title`}
      tabIndex={-1}
    >
      <header className="post-head">
        <Who name={post.author} />
        <Badges post={post} />
        <span className="post-when muted small spread">
          <span className="mono">{post.postId}</span>
          <Age at={post.at} />
        </span>
      </header>
      <h3 id={`${id}-title`}>{post.title}</h3>
      <Body text={post.body ?? ""} />
      <Fields post={post} />
      <Threads post={post} />
      {post.partlyHidden && (
        <p className="muted small">
          <Icon name="lock" size={12} /> Challenges, answers and votes on this post are hidden from
          you while the debate goes on, unless you take part in it.
        </p>
      )}
      <Votes post={post} />
      <Actions post={post} />
    </article>
  );
}

function Badges({ post }: { post: Post }) {
  const { view } = useBoardPage();
  const type = typeOf(post.type);
  const standing = standingOf(post.standing);
  // Before anything was checked, no post can be refuted.
  const hasStanding = PHASES.indexOf(view.phase) >= PHASES.indexOf("validate");
  return (
    <>
      <span className="badge">
        <Icon name={type.icon} size={11} />
        {type.word}
      </span>
      {post.severity && (
        <span className={`badge ${severityOf(post.severity).look}`}>
          {severityOf(post.severity).word} severity
        </span>
      )}
      {hasStanding && (
        <span className={`badge ${standing.look}`} title={standing.about}>
          {standing.word}
        </span>
      )}
    </>
  );
}

const FOLDED_PX = 300;

/** A long text is folded; what is folded can be found and printed all the same. */
function Body({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (box.current) setLong(box.current.scrollHeight > FOLDED_PX + 60);
  }, [text]);
  return (
    <>
      <div ref={box} className={isLong && !isOpen ? "post-body folded" : "post-body"}>
        <Markdown text={text} under={3} />
      </div>
      {isLong && (
        <Button
          look="quiet"
          className="unfold no-print"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Show less" : "Show all"}
        </Button>
      )}
    </>
  );
}

function Fields({ post }: { post: Post }) {
  const { targetFile, targetLocation, findingRefs = [], cascadeTargets = [] } = post;
  if (!targetFile && findingRefs.length === 0 && cascadeTargets.length === 0) return null;
  return (
    <dl className="post-fields">
      {targetFile && (
        <div>
          <dt>About</dt>
          <dd>
            <code>{targetLocation ? `${targetFile}:${targetLocation}` : targetFile}</code>
          </dd>
        </div>
      )}
      {findingRefs.length > 0 && (
        <div>
          <dt>Findings</dt>
          <dd>
            {findingRefs.map((one) => (
              <code key={one}>{one}</code>
            ))}
          </dd>
        </div>
      )}
      {cascadeTargets.length > 0 && (
        <div>
          <dt>Also affects</dt>
          <dd>
            {cascadeTargets.map((one) => (
              <code key={one}>{one}</code>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

interface Way {
  type: AnnotationType;
  label: string;
}

/** What the phase and the rules leave to you: nobody judges their own post. */
function useWays(post: Post): { ways: Way[]; canVote: boolean } {
  const { view, can } = useBoardPage();
  const you = view.you?.agentName;
  if (you === undefined || post.standing === "withdrawn") return { ways: [], canVote: false };
  const isMine = post.author === you;
  const offered: (Way & { mine: boolean })[] = [
    { type: "validation", label: "Validate", mine: false },
    { type: "challenge", label: "Challenge", mine: false },
    { type: "corroboration", label: "Corroborate", mine: false },
    { type: "rebuttal", label: "Reply to all challenges", mine: true },
    { type: "withdrawal", label: "Withdraw", mine: true },
  ];
  const ways = offered.filter((way) => way.mine === isMine && can(`annotate ${way.type}`));
  return { ways, canVote: !isMine && can("vote") };
}

function Actions({ post }: { post: Post }) {
  const { ways, canVote } = useWays(post);
  const [doing, setDoing] = useState<AnnotationType>();
  if (ways.length === 0 && !canVote && !doing) return null;
  return (
    <footer className="post-actions">
      {doing ? (
        <NoteForm
          postId={post.postId}
          type={doing}
          isLate={!ways.some((way) => way.type === doing)}
          onClose={() => setDoing(undefined)}
        />
      ) : (
        <div className="row no-print">
          {ways.map((way) => (
            <Button key={way.type} onClick={() => setDoing(way.type)}>
              {way.label}
            </Button>
          ))}
        </div>
      )}
      {canVote && <VoteBox post={post} />}
    </footer>
  );
}
