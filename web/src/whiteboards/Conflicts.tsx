// Posts that get in each other's way, side by side, by kind.

import { Fragment } from "react";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { Icon } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { useBoardPage, type Conflict, type useConflicts } from "./board";
import { Who } from "./People";
import { severityOf, standingOf, typeOf } from "./wording";

type Kind = Conflict["kind"];

const KINDS: readonly { kind: Kind; word: string; about: string; between: string }[] = [
  {
    kind: "direct_overlap",
    word: "Same place",
    about: "Both are about the same lines or symbol in a file.",
    between: "overlaps with",
  },
  {
    kind: "cascade_collision",
    word: "Knock-on change",
    about: "The left one would change the file that the right one is about.",
    between: "reaches into",
  },
  {
    kind: "severity_disagreement",
    word: "Different severity",
    about: "Both are about the same finding but rate its severity differently.",
    between: "disagrees with",
  },
];

export function Conflicts({ conflicts }: { conflicts: ReturnType<typeof useConflicts> }) {
  const all = conflicts.data?.pages.flatMap((page) => page.data) ?? [];
  const total = conflicts.data?.pages[0]?.meta?.total ?? all.length;
  return (
    <section className="conflicts" aria-labelledby="conflicts-heading">
      <h2 id="conflicts-heading" className="unseen">
        Conflicts
      </h2>
      <Wrong error={conflicts.error} onRetry={() => void conflicts.refetch()} />
      {conflicts.isPending && <Loading />}
      {conflicts.data && all.length === 0 && (
        <Empty>
          No conflicts. They are found from the files, lines, findings and severities that posts
          name.
        </Empty>
      )}
      {KINDS.map(({ kind, word, about, between }) => {
        const these = all.filter((conflict) => conflict.kind === kind);
        if (these.length === 0) return null;
        return (
          <section key={kind} className="conflict-kind" aria-label={word}>
            <h3>
              {word} <span className="muted number">{these.length}</span>
            </h3>
            <p className="muted small">{about}</p>
            {these.map((conflict) => (
              <Pair
                key={`${conflict.posts.join(" ")} ${conflict.over}`}
                conflict={conflict}
                between={between}
              />
            ))}
          </section>
        );
      })}
      {conflicts.hasNextPage && (
        <Button
          disabled={conflicts.isFetchingNextPage}
          onClick={() => void conflicts.fetchNextPage()}
        >
          Load more ({some(total - all.length, "conflict")} left)
        </Button>
      )}
    </section>
  );
}

function Pair({ conflict, between }: { conflict: Conflict; between: string }) {
  return (
    <div className="card conflict">
      <p className="conflict-over">
        <Icon name="warning" size={12} />
        <code>{conflict.over}</code>
      </p>
      <div className="conflict-pair">
        {conflict.posts.map((postId, index) => (
          <Fragment key={postId}>
            {index > 0 && <span className="conflict-between muted small">{between}</span>}
            <Side
              postId={postId}
              isCascade={conflict.kind === "cascade_collision" && index === 0}
            />
          </Fragment>
        ))}
      </div>
    </div>
  );
}

function Side({ postId, isCascade }: { postId: string; isCascade: boolean }) {
  const { posts, jump } = useBoardPage();
  const post = posts.find((one) => one.postId === postId);
  if (!post) {
    return (
      <div className="conflict-side">
        <button type="button" className="link-button" onClick={() => jump(postId)}>
          {postId}
        </button>
      </div>
    );
  }
  const place = [post.targetFile, post.targetLocation].filter(Boolean).join(":");
  return (
    <div className="conflict-side">
      <p className="note-head">
        <Who name={post.author} />
        <span className="badge">{typeOf(post.type).word}</span>
        {post.severity && (
          <span className={`badge ${severityOf(post.severity).look}`}>
            {severityOf(post.severity).word} severity
          </span>
        )}
        {post.standing !== "surviving" && (
          <span className={`badge ${standingOf(post.standing).look}`}>
            {standingOf(post.standing).word}
          </span>
        )}
      </p>
      <button type="button" className="link-button conflict-title" onClick={() => jump(postId)}>
        {post.title}
      </button>
      {place && <p className="mono">{place}</p>}
      {isCascade && <p className="mono">would change {post.cascadeTargets?.join(", ")}</p>}
    </div>
  );
}
