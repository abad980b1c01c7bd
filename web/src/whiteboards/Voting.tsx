// The votes on a post, and your own: cast, and changed later. The record keeps both.

import { useState, type FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent } from "../api/write";
import { remembered, useStored } from "../stored";
import { toast } from "../ui/announce";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { TextArea } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { draftPlace, focusCard, useBoardPage, useWriteHere, type Post } from "./board";
import { Who } from "./People";
import { VoteSign } from "../session/Matrix";
import { voteOf, VOTES, type Vote } from "./wording";

/** How many accept, reject and defer. */
export function TallyView({ tally }: { tally: Schemas["TallyView"] }) {
  return (
    <span className="tally">
      {VOTES.map((vote) => (
        <span key={vote} className={`tally-part ${tally[vote] > 0 ? voteOf(vote).look : ""}`}>
          <span aria-hidden="true">{voteOf(vote).sign}</span>
          <span className="number">{tally[vote]}</span>
          <span className="unseen"> {voteOf(vote).word.toLowerCase()}</span>
        </span>
      ))}
    </span>
  );
}

export function Votes({ post }: { post: Post }) {
  if (post.votes.length === 0) return null;
  return (
    <details className="votes">
      <summary>
        Votes <TallyView tally={post.tally} />
      </summary>
      <ul>
        {post.votes.map((vote) => (
          <li key={vote.by}>
            <VoteSign vote={vote.vote} />
            <div>
              <p className="note-head">
                <Who name={vote.by} />
                <span className="muted">{voteOf(vote.vote).verb}</span>
                <Age className="muted small spread" at={vote.at} />
              </p>
              {vote.reason && <p className="vote-reason">{vote.reason}</p>}
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The three choices. Choosing one asks for the reason, then it is cast. */
export function VoteBox({ post }: { post: Post }) {
  const { looking, view } = useBoardPage();
  const [chosen, setChosen] = useState<Vote>();
  const mine = post.votes.find((vote) => vote.by === view.you?.agentName);
  const place = draftPlace(looking, post.postId, "vote");
  const [reason, setReason] = useStored<string | null>(place, null, "");
  const shownReason = reason ?? mine?.reason ?? "";
  const cast = useWriteHere(
    looking,
    place,
    (body: Schemas["NewVote"], header) =>
      asked(
        client.POST("/api/whiteboards/{board}/votes", {
          params: { path: { board: looking.board }, header },
          body,
        }),
      ),
    (sent) =>
      forgetSent<string>(
        place,
        (kept) => kept === sent.reason || (kept.trim() === "" && sent.reason === undefined),
      ),
  );
  const problem = cast.error instanceof Problem ? cast.error : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return;
    cast.mutate(
      {
        postId: post.postId,
        vote: chosen,
        ...(shownReason.trim() !== "" && { reason: shownReason }),
      },
      {
        onSuccess: () => {
          toast(mine ? "Vote changed" : "Vote cast");
          // Whoever has gone on writing stays where they are.
          if (remembered(place, null) !== null) return;
          setChosen(undefined);
          focusCard(post.postId);
        },
      },
    );
  };
  return (
    <form className="vote-box no-print" aria-label={`Your vote on ${post.title}`} onSubmit={submit}>
      <div className="row">
        <span className="muted small">{mine ? "Your vote" : "Vote"}</span>
        <div className="vote-choices">
          {VOTES.map((vote) => (
            <button
              key={vote}
              type="button"
              className={`vote-choice ${voteOf(vote).look}`}
              aria-pressed={(chosen ?? mine?.vote) === vote}
              onClick={() => setChosen(chosen === vote ? undefined : vote)}
            >
              <span aria-hidden="true">{voteOf(vote).sign}</span> {voteOf(vote).word}
            </button>
          ))}
        </div>
      </div>
      {chosen && (
        <>
          <TextArea
            label="Why (optional)"
            rows={2}
            autoFocus
            value={shownReason}
            wrong={problem?.field("reason")}
            onChange={(event) => setReason(event.target.value)}
          />
          {(problem?.fields.length ?? 0) === 0 && <Wrong error={cast.error} />}
          <div className="row">
            <Button look="primary" type="submit" disabled={cast.isPending}>
              {cast.isPending
                ? "Sending…"
                : `${mine ? "Change to" : "Vote to"} ${voteOf(chosen).word.toLowerCase()}`}
            </Button>
            <Button look="quiet" onClick={() => setChosen(undefined)}>
              Cancel
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
