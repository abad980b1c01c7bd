import {
  Fragment,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { useFollowEnd } from "../session/useFollowEnd";
import { some, wholeDate } from "../ui/time";
import type { CouncilPage } from "./useCouncil";
import { ChangeLine, PostCard, SilenceLine } from "./Posts";
import { entriesOf, firstOf, lastOf, turnOf, type Entry, type Post } from "./entries";

interface Props {
  page: CouncilPage;
  /** The name under which I post here. */
  me: string | undefined;
  readBack: (to?: number) => Promise<void>;
  onReply: ((post: Post) => void) | undefined;
  /** A post that I have just written: go there. */
  written: number | undefined;
  /** The answer that is being written, the end of a closed council. */
  children: ReactNode;
}

export function Thread({ page, me, readBack, onReply, written, children }: Props) {
  const { view, thread } = page;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd, leave } = useFollowEnd(
    useCallback(() => scroller.current, []),
    content,
    { starts: true },
  );
  const first = firstOf(thread) ?? 1;
  const last = lastOf(thread);
  const posts = useMemo(() => new Map(thread.posts.map((post) => [post.sequence, post])), [thread]);
  const rows = useMemo(() => dated(entriesOf(thread)), [thread]);

  const [seen, setSeen] = useState(last);
  useEffect(() => {
    if (isAtEnd) setSeen(last);
  }, [isAtEnd, last]);
  useEffect(() => {
    if (written !== undefined) toEnd();
  }, [written, toEnd]);

  const { isReading, error, back } = useReadingBack(first, scroller, readBack);
  const [target, setTarget] = useState<number>();
  const jump = useCallback(
    (sequence: number) => {
      leave();
      setTarget(sequence);
      void back(sequence);
    },
    [back, leave],
  );
  useJumpToAddress(jump);
  useEffect(() => {
    const post = target === undefined ? null : document.getElementById(`post-${target}`);
    if (!post) return;
    setTarget(undefined);
    post.scrollIntoView({ block: "center" });
    post.focus({ preventScroll: true });
  }, [target, first]);

  const unseen = last - seen;
  return (
    <section className="council-thread" aria-label="Thread">
      <h2 className="unseen">Thread</h2>
      <div
        className="council-scroller"
        role="region"
        aria-label="Posts"
        tabIndex={0}
        ref={scroller}
      >
        <div className="council-posts" ref={content}>
          {first > 1 && (
            <div className="council-earlier no-print">
              <Button icon="up" disabled={isReading} onClick={() => void back()}>
                Load earlier posts
              </Button>
              <span className="muted small">{some(first - 1, "earlier post")}</span>
            </div>
          )}
          <Wrong error={error} onRetry={() => void back()} />
          {rows.map(({ entry, day }) => (
            <Fragment key={keyOf(entry)}>
              {day !== undefined && <p className="council-day muted small">{day}</p>}
              {entry.type === "silence" && <SilenceLine silence={entry.silence} />}
              {entry.type === "change" && <ChangeLine change={entry.change} />}
              {entry.type === "post" && (
                <PostCard
                  post={entry.post}
                  answers={posts.get(entry.post.replyTo ?? 0)}
                  model={entry.post.model}
                  isMine={entry.post.sender === me}
                  onReply={onReply}
                  onJump={jump}
                />
              )}
            </Fragment>
          ))}
          {rows.length === 0 && view.status === "open" && (
            <Empty>No one has posted yet. Write the first post below.</Empty>
          )}
          {children}
        </div>
      </div>
      {!isAtEnd && (
        <Button className="council-chip no-print" icon="down" onClick={toEnd}>
          {unseen > 0 ? some(unseen, "new post") : "Jump to latest"}
        </Button>
      )}
    </section>
  );
}

function keyOf(entry: Entry): string {
  if (entry.type === "change") return `changed/${entry.change.at}`;
  return entry.type === "post" ? `${entry.post.sequence}` : turnOf(entry.silence);
}

/** Each day's first post has its day. */
function dated(entries: Entry[]): { entry: Entry; day: string | undefined }[] {
  let today = "";
  return entries.map((entry) => {
    const day = entry.type === "post" ? wholeDate(entry.post.at) : today;
    const isNew = day !== today;
    today = day;
    return { entry, day: isNew ? day : undefined };
  });
}

/** Reads older posts; what was in view stays where it was. */
function useReadingBack(
  first: number,
  scroller: React.RefObject<HTMLDivElement | null>,
  readBack: (to?: number) => Promise<void>,
) {
  const [isReading, setReading] = useState(false);
  const [error, setError] = useState<unknown>();
  const held = useRef<{ element: HTMLElement; top: number }>(undefined);

  const hold = useCallback(() => {
    const inView = scroller.current?.querySelectorAll<HTMLElement>("article");
    const edge = scroller.current?.getBoundingClientRect().top ?? 0;
    for (const element of inView ?? []) {
      const { top, bottom } = element.getBoundingClientRect();
      if (bottom > edge) {
        held.current = { element, top };
        return;
      }
    }
  }, [scroller]);

  useLayoutEffect(() => {
    const place = held.current;
    held.current = undefined;
    if (!place || !scroller.current) return;
    scroller.current.scrollTop += place.element.getBoundingClientRect().top - place.top;
  }, [first, scroller]);

  const back = useCallback(
    async (to?: number) => {
      setReading(true);
      setError(undefined);
      hold();
      try {
        await readBack(to);
      } catch (problem) {
        setError(problem);
      } finally {
        setReading(false);
      }
    },
    [hold, readBack],
  );
  return { isReading, error, back };
}

/** An address may name a post: `#post-12`. */
function useJumpToAddress(jump: (sequence: number) => void): void {
  const latest = useRef(jump);
  latest.current = jump;
  useEffect(() => {
    const go = () => {
      const sequence = /^#post-(\d+)$/.exec(location.hash)?.[1];
      if (sequence !== undefined) latest.current(Number(sequence));
    };
    go();
    window.addEventListener("hashchange", go);
    return () => window.removeEventListener("hashchange", go);
  }, []);
}
