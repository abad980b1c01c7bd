// The map of the votes: posts by voters, and how far voters agree. Made from the votes on
// this board and nothing else, and it says so.

import { useState } from "react";
import { some } from "../ui/time";
import { agreement, voters, votedOn } from "./agreement";
import { useBoardPage } from "./board";
import { VoteSign } from "./wording";

const ROWS_SHOWN = 20;

export function VotesTable() {
  const { posts, jump } = useBoardPage();
  const [isWhole, setWhole] = useState(false);
  const all = votedOn(posts);
  const rows = isWhole ? all : all.slice(0, ROWS_SHOWN);
  const columns = voters(posts);
  if (rows.length === 0) return <NoVotes />;
  return (
    <>
      <div className="map" tabIndex={0} role="region" aria-label="Votes by post and voter">
        <table>
          <thead>
            <tr>
              <th scope="col" className="map-corner">
                Post
              </th>
              {columns.map((name) => (
                <VoterHead key={name} name={name} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((post) => (
              <tr key={post.postId}>
                <th scope="row">
                  <button type="button" className="link-button" onClick={() => jump(post.postId)}>
                    {post.title}
                  </button>
                  <span className="muted small">
                    {post.tally.accept} of {some(post.votes.length, "voter")} accept
                  </span>
                </th>
                {columns.map((name) => {
                  const vote = post.votes.find((one) => one.by === name);
                  return (
                    <td key={name} title={vote?.reason}>
                      {vote ? (
                        <VoteSign vote={vote.vote} />
                      ) : (
                        <span className="vote-sign none">
                          <span className="unseen">
                            {post.author === name ? "own post" : "no vote"}
                          </span>
                        </span>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length < all.length && (
        <button type="button" className="link-button muted" onClick={() => setWhole(true)}>
          and {all.length - rows.length} more
        </button>
      )}
      <Source extra="Contested posts come first." />
    </>
  );
}

/** A name that reads upwards takes little room, and is still the whole name. */
function VoterHead({ name }: { name: string }) {
  const { agentOf } = useBoardPage();
  return (
    <th scope="col" className="voter" data-role={agentOf(name)?.role ?? "person"} title={name}>
      <span>{name}</span>
    </th>
  );
}

export function AgreementTable() {
  const { posts } = useBoardPage();
  const names = voters(posts);
  const [chosen, setChosen] = useState<readonly [string, string]>();
  if (names.length < 2) return <NoVotes few />;
  return (
    <>
      <div className="map" tabIndex={0} role="region" aria-label="Agreement between voters">
        <table>
          <thead>
            <tr>
              <th scope="col" className="map-corner">
                Same vote, %
              </th>
              {names.map((name) => (
                <VoterHead key={name} name={name} />
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((a) => (
              <tr key={a}>
                <th scope="row">{a}</th>
                {names.map((b) => (
                  <td key={b}>
                    <AgreementCell a={a} b={b} onChoose={() => setChosen([a, b])} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen && <Differences a={chosen[0]} b={chosen[1]} />}
      <Source extra="The share of posts on which both voted alike." />
    </>
  );
}

function AgreementCell({ a, b, onChoose }: { a: string; b: string; onChoose: () => void }) {
  const { posts } = useBoardPage();
  if (a === b) return <span className="agree self" />;
  const { same, of } = agreement(posts, a, b);
  if (of === 0) {
    return (
      <span className="agree none" title={`${a} and ${b} have not voted on the same post`}>
        <span aria-hidden="true">·</span>
        <span className="unseen">no post in common</span>
      </span>
    );
  }
  const share = Math.round((same / of) * 100);
  return (
    <button
      type="button"
      className="agree"
      style={{ "--share": `${share}%` } as React.CSSProperties}
      title={`${a} and ${b}: the same on ${same} of ${of}`}
      aria-label={`${a} and ${b} agree on ${same} of ${of}, ${share} %`}
      onClick={onChoose}
    >
      {share}
    </button>
  );
}

function Differences({ a, b }: { a: string; b: string }) {
  const { posts, jump } = useBoardPage();
  const { same, of, differ } = agreement(posts, a, b);
  return (
    <div className="differences" role="status">
      <p>
        <strong>
          {a} and {b}
        </strong>{" "}
        voted the same way on {same} of {of}.
      </p>
      {differ.length > 0 && (
        <ul>
          {differ.map((postId) => {
            const post = posts.find((one) => one.postId === postId);
            const voteOf = (name: string) => post?.votes.find((vote) => vote.by === name)?.vote;
            const [one, other] = [voteOf(a), voteOf(b)];
            return (
              <li key={postId}>
                {one && <VoteSign vote={one} />}
                {other && <VoteSign vote={other} />}
                <button type="button" className="link-button" onClick={() => jump(postId)}>
                  {post?.title ?? postId}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

function NoVotes({ few = false }: { few?: boolean }) {
  const { view } = useBoardPage();
  const isOver = view.phase === "resolve" || view.phase === "archived";
  return (
    <p className="muted small">
      {few && "Agreement needs two voters. "}
      {isOver ? "Nobody has voted on this board." : "Votes are cast in the debate."}
    </p>
  );
}

/** Where the map comes from. */
function Source({ extra }: { extra: string }) {
  const { view, posts } = useBoardPage();
  return (
    <p className="muted small map-source">
      Based on the votes on this board
      {posts.some((post) => post.partlyHidden) && ", as far as you can see them"}
      {posts.length < view.postsTotal &&
        `, on the ${posts.length} of ${view.postsTotal} posts that are loaded`}
      . {extra}
    </p>
  );
}
