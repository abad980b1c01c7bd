// The map of the votes: posts by voters, and how far voters agree. Made from the votes on
// this board and nothing else, and it says so.

import { useState } from "react";
import { Agreement, Matrix, NoVote, VoteSign } from "../session/Matrix";
import { some } from "../ui/time";
import { agreement, voters, votedOn } from "./agreement";
import { useBoardPage } from "./board";

const ROWS_SHOWN = 20;

export function VotesTable() {
  const { posts, jump } = useBoardPage();
  const [isWhole, setWhole] = useState(false);
  const all = votedOn(posts);
  const rows = isWhole ? all : all.slice(0, ROWS_SHOWN);
  const names = voters(posts);
  if (rows.length === 0) return <NoVotes />;
  return (
    <>
      <Matrix
        label="Votes by post and voter"
        corner="Post"
        columns={names.map((name) => ({ key: name, head: <VoterHead name={name} /> }))}
        rows={rows.map((post) => ({
          key: post.postId,
          head: (
            <>
              <button type="button" className="link-button" onClick={() => jump(post.postId)}>
                {post.title}
              </button>
              <span className="muted small block-line">
                {post.tally.accept} of {some(post.votes.length, "voter")} accept
              </span>
            </>
          ),
          cells: names.map((name) => {
            const vote = post.votes.find((one) => one.by === name);
            return vote ? (
              <VoteSign key={name} vote={vote.vote} title={vote.reason} />
            ) : (
              <NoVote key={name} word={post.author === name ? "own post" : "no vote"} />
            );
          }),
        }))}
      />
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
    <span className="voter" data-role={agentOf(name)?.role ?? "person"} title={name}>
      {name}
    </span>
  );
}

export function AgreementTable() {
  const { posts, jump } = useBoardPage();
  const names = voters(posts);
  if (names.length < 2) return <NoVotes few />;
  return (
    <>
      <Agreement
        label="Agreement between voters"
        corner="Same vote, %"
        noun="post"
        voters={names.map((name) => ({ key: name, name, head: <VoterHead name={name} /> }))}
        pairOf={(one, other) => agreement(posts, one.name, other.name)}
        differences={(one, other) =>
          agreement(posts, one.name, other.name).differ.map((postId) => {
            const post = posts.find((found) => found.postId === postId);
            const votes = [one, other].flatMap(
              ({ name }) => post?.votes.find((vote) => vote.by === name)?.vote ?? [],
            );
            return {
              key: postId,
              shown: (
                <>
                  {votes.map((vote, place) => (
                    <VoteSign key={place} vote={vote} />
                  ))}{" "}
                  <button type="button" className="link-button" onClick={() => jump(postId)}>
                    {post?.title ?? postId}
                  </button>
                </>
              ),
            };
          })
        }
      />
      <Source extra="The percentage of posts on which both voted the same way." />
    </>
  );
}

function NoVotes({ few = false }: { few?: boolean }) {
  const { view } = useBoardPage();
  const isOver = view.phase === "resolve" || view.phase === "archived";
  return (
    <p className="muted small">
      {few && "Agreement needs two voters. "}
      {isOver ? "No one has voted on this board yet." : "Votes are cast in the debate."}
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
