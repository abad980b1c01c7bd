// Where the board stands, counted by the server from what you can see.

import { Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { useBoardPage, useSummary, type Summary } from "./board";
import { Shortened } from "./Shortened";
import { TallyView } from "./Voting";
import { standingOf, STANDINGS, type Standing } from "./wording";

const LINES_SHOWN = 8;

export function SummaryView() {
  const { looking, view } = useBoardPage();
  const summary = useSummary(looking);
  if (summary.isPending) return <Loading />;
  if (!summary.data) return <Wrong error={summary.error} onRetry={() => void summary.refetch()} />;
  const found = summary.data;
  return (
    <div className="summary">
      <Outcome summary={found} />
      <dl className="counts">
        <Count one="person" many="people" value={found.agents} />
        <Count one="post" many="posts" value={found.posts} />
        <Count one="annotation" many="annotations" value={found.annotations} />
        <Count one="vote" many="votes" value={found.votes} />
      </dl>
      {STANDINGS.map((standing) => (
        <Standings key={standing} summary={found} standing={standing} />
      ))}
      <Open summary={found} />
      {view.posts.some((post) => post.partlyHidden) && (
        <p className="muted small">
          Counted from what you can see; some of the debate is hidden from you for now.
        </p>
      )}
    </div>
  );
}

function Count({ one, many, value }: { one: string; many: string; value: number }) {
  return (
    <div>
      <dt>{value === 1 ? one : many}</dt>
      <dd className="number">{value}</dd>
    </div>
  );
}

/** What the votes say. */
function Outcome({ summary }: { summary: Summary }) {
  const { view, jump } = useBoardPage();
  if (summary.votes === 0) return null;
  const titleOf = (postId: string) =>
    summary.lines.find((line) => line.postId === postId)?.title ?? postId;
  const { decision, posts } = summary.outcome;
  const isOver = view.phase === "archived";
  const lead = {
    accepted: isOver ? "Accepted" : "As the votes stand, accepted",
    tied: isOver ? "Tied" : "As the votes stand, tied",
    undecided: isOver ? "Nothing was chosen" : "As the votes stand, nothing is chosen",
  }[decision];
  return (
    <div className="outcome">
      <p className="eyebrow">{lead}</p>
      {posts.length === 0 ? (
        <p className="muted small">No remaining proposal has more votes for it than against it.</p>
      ) : (
        posts.map((postId) => (
          <button
            key={postId}
            type="button"
            className="link-button outcome-title"
            onClick={() => jump(postId)}
          >
            {titleOf(postId)}
          </button>
        ))
      )}
    </div>
  );
}

function Standings({ summary, standing }: { summary: Summary; standing: Standing }) {
  const { jump } = useBoardPage();
  const lines = summary.lines.filter((line) => line.standing === standing);
  if (lines.length === 0) return null;
  const { word, about } = standingOf(standing);
  return (
    <details className="standing" open={standing === "surviving" || undefined}>
      <summary>
        {word} <span className="muted number">{lines.length}</span>
      </summary>
      <p className="muted small">{about}</p>
      <Shortened items={lines} shown={LINES_SHOWN}>
        {(line) => (
          <li key={line.postId}>
            <button type="button" className="link-button" onClick={() => jump(line.postId)}>
              {line.title}
            </button>
            <span className="muted small standing-facts">
              {line.author}
              {summary.votes > 0 && <TallyView tally={line.tally} />}
              {line.confirmed + line.refuted + line.inconclusive > 0 && <span>{checks(line)}</span>}
            </span>
          </li>
        )}
      </Shortened>
    </details>
  );
}

function checks(line: Summary["lines"][number]): string {
  const parts = [
    line.confirmed > 0 && `${line.confirmed} confirmed`,
    line.refuted > 0 && `${line.refuted} refuted`,
    line.inconclusive > 0 && `${line.inconclusive} inconclusive`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** What is still to be done. */
function Open({ summary }: { summary: Summary }) {
  const { view, jump } = useBoardPage();
  const { unresolvedChallenges: challenges, unvalidatedPosts: unvalidated } = summary;
  const titleOf = (postId: string) =>
    summary.lines.find((line) => line.postId === postId)?.title ?? postId;
  return (
    <>
      {challenges.length > 0 && (
        <details className="standing" open>
          <summary>
            Open challenges <span className="muted number">{challenges.length}</span>
          </summary>
          <Shortened items={challenges} shown={LINES_SHOWN}>
            {(one) => (
              <li key={one.annotationId}>
                <button type="button" className="link-button" onClick={() => jump(one.postId)}>
                  {titleOf(one.postId)}
                </button>
                <span className="muted small">by {one.by}</span>
              </li>
            )}
          </Shortened>
        </details>
      )}
      {unvalidated.length > 0 && view.phase !== "read" && (
        <details className="standing">
          <summary>
            Not validated <span className="muted number">{unvalidated.length}</span>
          </summary>
          <p className="muted small">
            No one has checked {unvalidated.length === 1 ? "it" : some(unvalidated.length, "post")}.
          </p>
          <Shortened items={unvalidated} shown={LINES_SHOWN}>
            {(postId) => (
              <li key={postId}>
                <button type="button" className="link-button" onClick={() => jump(postId)}>
                  {titleOf(postId)}
                </button>
              </li>
            )}
          </Shortened>
        </details>
      )}
    </>
  );
}
