// The posts of a board: chosen, ordered, and walked through by keyboard.

import { useRef } from "react";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { useShortcuts } from "../ui/shortcuts";
import { some } from "../ui/time";
import { useBoardPage } from "./board";
import { ALL_POSTS, chosenPosts, isFiltered, type Choice, type Order } from "./order";
import { PostCard } from "./PostCard";
import { PostForm } from "./PostForm";
import { POST_TYPES, standingOf, STANDINGS, typeOf, type PostType, type Standing } from "./wording";

interface Props {
  choice: Choice;
  onChoose: (choice: Choice) => void;
  /** More posts are on the server. */
  more: { isThere: boolean; isLoading: boolean; load: () => void };
}

export function Posts({ choice, onChoose, more }: Props) {
  const { view, posts } = useBoardPage();
  const shown = chosenPosts(posts, choice);
  const list = useRef<HTMLDivElement>(null);
  useWalk(list);
  return (
    <section className="posts" aria-labelledby="posts-heading" id="posts">
      <PostForm />
      <div className="posts-head">
        <h2 id="posts-heading">
          {view.phase === "blind" && view.you ? "Your posts" : "Posts"}{" "}
          {view.postsTotal > 0 && <span className="muted number">{view.postsTotal}</span>}
        </h2>
        {posts.length > 1 && <Filters choice={choice} onChoose={onChoose} />}
      </div>
      {shown.length < posts.length && (
        <p className="muted small">
          {some(shown.length, "post")} of {posts.length} shown.{" "}
          <button
            type="button"
            className="link-button"
            onClick={() => onChoose({ ...ALL_POSTS, order: choice.order })}
          >
            Show all
          </button>
        </p>
      )}
      {more.isThere && (isFiltered(choice) || choice.order !== "posted") && (
        <p className="muted small">
          {posts.length} of {view.postsTotal} posts are loaded. Filters and order apply to those.
        </p>
      )}
      {posts.length === 0 && <NoPosts />}
      <div className="post-list" ref={list}>
        {shown.map((post) => (
          <PostCard key={post.postId} post={post} />
        ))}
      </div>
      {more.isThere && (
        <Button className="no-print" disabled={more.isLoading} onClick={more.load}>
          {more.isLoading ? "Loading…" : `Load more (${view.postsTotal - posts.length} left)`}
        </Button>
      )}
    </section>
  );
}

function NoPosts() {
  const { view } = useBoardPage();
  if (view.phase !== "blind") return <Empty>No one has posted on this board yet.</Empty>;
  return (
    <Empty>
      {view.you
        ? "You have not posted yet. Until the board moves to read, only you see your posts here."
        : "Posts are hidden while the board is blind. Join to write your own, or come back when the board moves to read."}
    </Empty>
  );
}

const ORDERS: Record<Order, string> = {
  posted: "As posted",
  newest: "Newest first",
  votes: "By votes",
  contested: "Contested first",
};

function Filters({ choice, onChoose }: Pick<Props, "choice" | "onChoose">) {
  const { posts, view } = useBoardPage();
  const authors = [...new Set(posts.map((post) => post.author))].sort();
  const change = (part: Partial<Choice>) => onChoose({ ...choice, ...part });
  return (
    <div className="filters no-print" role="group" aria-label="Filter posts">
      <TextField
        label="Search posts"
        labelUnseen
        type="search"
        placeholder="Search posts"
        value={choice.words}
        onChange={(event) => change({ words: event.target.value })}
      />
      <SelectField
        label="Type"
        labelUnseen
        value={choice.type}
        onChange={(event) => change({ type: event.target.value as PostType | "" })}
        none="Any type"
        options={POST_TYPES.map((type) => [type, typeOf(type).word])}
      />
      {view.phase !== "blind" && (
        <>
          <SelectField
            label="Author"
            labelUnseen
            value={choice.author}
            onChange={(event) => change({ author: event.target.value })}
            none="Any author"
            options={authors.map((author) => [author, author])}
          />
          <SelectField
            label="Standing"
            labelUnseen
            value={choice.standing}
            onChange={(event) => change({ standing: event.target.value as Standing | "" })}
            none="Any status"
            options={STANDINGS.map((standing) => [standing, standingOf(standing).word])}
          />
        </>
      )}
      <SelectField
        label="Order"
        labelUnseen
        value={choice.order}
        onChange={(event) => change({ order: event.target.value as Order })}
        options={Object.entries(ORDERS)}
      />
    </div>
  );
}

/** J and K go from post to post, M to the map, N to the form. */
function useWalk(list: React.RefObject<HTMLDivElement | null>): void {
  const step = (by: 1 | -1) => {
    const cards = [...(list.current?.querySelectorAll<HTMLElement>("[data-post]") ?? [])];
    const here = document.activeElement?.closest<HTMLElement>("[data-post]");
    const at = here ? cards.indexOf(here) : -1;
    // From elsewhere, to the first card that can be seen.
    const seen = cards.findIndex((card) => card.getBoundingClientRect().bottom > 80);
    const next = cards[at < 0 ? seen : at + by];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "start", behavior: "smooth" });
  };
  useShortcuts([
    { key: "j", label: "Next post", run: () => step(1) },
    { key: "k", label: "Previous post", run: () => step(-1) },
    {
      key: "m",
      label: "Go to the map",
      run: () => document.querySelector<HTMLElement>("#map [aria-selected=true]")?.focus(),
    },
    {
      key: "n",
      label: "Write a post",
      run: () => document.querySelector<HTMLElement>("[data-new-post]")?.focus(),
    },
  ]);
}
