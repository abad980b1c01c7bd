// A board as one viewer sees it. Everything that is asked stands under the viewer's name in
// the cache, so that nothing of a blind phase passes from one identity to another.

import {
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryKey,
} from "@tanstack/react-query";
import { createContext, useContext, useRef } from "react";
import { asked, client, whole, type Schemas } from "../api/client";
import { useWrite, type WriteKey } from "../api/write";
import type { Identity } from "./identity";

const BLIND_MS = 3_000;

export type BoardView = Schemas["WhiteboardView"];
export type Post = Schemas["PostView"];
export type Annotation = Schemas["AnnotationView"];
export type Agent = Schemas["AgentView"];
export type Summary = Schemas["WhiteboardSummary"];
export type Conflict = Schemas["ConflictView"];

const POSTS_OF_A_PAGE = 100;
const CHANGES_OF_A_PAGE = 200;
const CONFLICTS_OF_A_PAGE = 100;

/** Who looks at which board. */
export interface Looking {
  board: string;
  me: Identity | undefined;
}

/** All that has been asked as this viewer. */
export function viewerKey({ board, me }: Looking): QueryKey {
  return ["whiteboards", board, me?.name ?? ""];
}

interface AgentHeader {
  "Agent-Token"?: string;
}

export function agentHeader(me: Identity | undefined): AgentHeader {
  return me ? { "Agent-Token": me.token } : {};
}

function params({ board, me }: Looking) {
  return { path: { board }, header: agentHeader(me) };
}

function fetchBoard(looking: Looking, query: { cursor?: string; since?: number; limit: number }) {
  return asked(
    client.GET("/api/whiteboards/{board}", {
      params: { ...params(looking), query: { detail: "full", ...query } },
    }),
  );
}

/**
 * The pages that are here, with what has changed in them; `undefined` where the server sent all
 * or more than fits one answer. Posts are never taken away, and new ones come at the end.
 */
export function renewed(pages: readonly BoardView[], changes: BoardView): BoardView[] | undefined {
  if (changes.changedSince === undefined || changes.nextCursor !== undefined) return undefined;
  const changed = new Map(changes.posts.map((post) => [post.postId, post]));
  const known = new Set(pages.flatMap((page) => page.posts.map((post) => post.postId)));
  const more = changes.posts.filter((post) => !known.has(post.postId));
  return pages.map((page, place): BoardView => {
    const posts = page.posts.map((post) => changed.get(post.postId) ?? post);
    const { nextCursor } = page;
    // Where not all is loaded yet, what is new comes with the rest.
    const isEnd = place === pages.length - 1 && nextCursor === undefined;
    const { nextCursor: _, changedSince: __, ...board } = changes;
    return {
      ...board,
      posts: isEnd ? [...posts, ...more] : posts,
      ...(nextCursor !== undefined && { nextCursor }),
    };
  });
}

/**
 * The board with its posts, page by page. The first page tells of the board itself. When
 * something has happened only what has changed is asked for, once for all pages.
 */
export function useBoard(looking: Looking) {
  const queries = useQueryClient();
  const queryKey = [...viewerKey(looking), "posts"];
  const fresh = useRef<BoardView[]>(undefined);
  return useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }): Promise<BoardView> => {
      const known = queries.getQueryData<InfiniteData<BoardView>>(queryKey);
      const first = known?.pages[0];
      if (cursor === undefined) {
        fresh.current = undefined;
        if (known && first) {
          const since = { since: first.version, limit: CHANGES_OF_A_PAGE };
          const changes = await fetchBoard(looking, since);
          fresh.current = renewed(known.pages, changes);
        }
      }
      const place = known?.pageParams.indexOf(cursor) ?? -1;
      const page = place < 0 ? undefined : fresh.current?.[place];
      return (
        page ?? (await fetchBoard(looking, { limit: POSTS_OF_A_PAGE, ...(cursor && { cursor }) }))
      );
    },
    getNextPageParam: (page: BoardView) => page.nextCursor,
    // That others post while a board is blind makes no event, not even for those who lead it
    // and may know who has posted.
    refetchInterval: ({ state }) => {
      const view = state.data?.pages[0];
      return view?.phase === "blind" && view.hasPosted ? BLIND_MS : false;
    },
  });
}

export function useSummary(looking: Looking) {
  return useQuery({
    queryKey: [...viewerKey(looking), "summary"],
    queryFn: () =>
      asked(client.GET("/api/whiteboards/{board}/summary", { params: params(looking) })),
  });
}

export function useConflicts(looking: Looking, isOpen: boolean) {
  return useInfiniteQuery({
    queryKey: [...viewerKey(looking), "conflicts"],
    enabled: isOpen,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      whole(
        client.GET("/api/whiteboards/{board}/conflicts", {
          params: {
            ...params(looking),
            query: { limit: CONFLICTS_OF_A_PAGE, cursor: pageParam },
          },
        }),
      ),
    getNextPageParam: (page) => page.meta?.next,
  });
}

export type RecordFormat = "markdown" | "json";

/** The record as this viewer may see it. */
export async function recordText(looking: Looking, format: RecordFormat): Promise<string> {
  const text = await whole<unknown>(
    client.GET("/api/whiteboards/{board}/export", {
      params: { ...params(looking), query: { format } },
      parseAs: "text",
    }),
  );
  return String(text);
}

export function useRecord(looking: Looking) {
  return useQuery({
    queryKey: [...viewerKey(looking), "record"],
    queryFn: () => recordText(looking, "markdown"),
  });
}

// ---------------------------------------------------------------------------
// Writing

export type WriteHeader = AgentHeader & WriteKey;

/**
 * A write as this viewer. It is under way until what it changed is shown. `onSent` comes also
 * when the form was left meanwhile. `place` is where its words are kept.
 */
export function useWriteHere<Body, Result>(
  { board, me }: Looking,
  place: string,
  send: (body: Body, header: WriteHeader) => Promise<Result>,
  onSent: (body: Body) => void,
) {
  const queries = useQueryClient();
  return useWrite((body: Body, key) => send(body, { ...agentHeader(me), ...key }), {
    place,
    onSent: (_, body) => {
      onSent(body);
      return queries.invalidateQueries({ queryKey: ["whiteboards", board] });
    },
  });
}

export function useAnnotate(
  looking: Looking,
  place: string,
  onSent: (body: Schemas["NewAnnotation"]) => void,
) {
  return useWriteHere(
    looking,
    place,
    (body: Schemas["NewAnnotation"], header) =>
      asked(
        client.POST("/api/whiteboards/{board}/annotations", {
          params: { path: { board: looking.board }, header },
          body,
        }),
      ),
    onSent,
  );
}

/**
 * Where a text is kept in this browser until it is sent. Boards and agents may have dots in
 * their names, so that only what no name contains keeps the texts of one from another.
 */
export function draftPlace({ board, me }: Looking, ...name: string[]): string {
  const parts = [board, me?.name ?? "", ...name];
  return `draft.whiteboard/${parts.map(encodeURIComponent).join("/")}`;
}

// ---------------------------------------------------------------------------
// What every part of the page needs

export interface BoardPage {
  looking: Looking;
  view: BoardView;
  /** Those that are loaded, as posted. */
  posts: Post[];
  /** The server says so; by the names that it gives to what can be done. */
  can: (what: string) => boolean;
  agentOf: (name: string) => Agent | undefined;
  /** Goes to a post, wherever it stands. */
  jump: (postId: string) => void;
}

export const BoardContext = createContext<BoardPage | undefined>(undefined);

export function useBoardPage(): BoardPage {
  const page = useContext(BoardContext);
  if (!page) throw new Error("This part belongs inside a whiteboard's page.");
  return page;
}

/** So that whoever uses the keyboard goes on where they were when a form has closed. */
export function focusCard(postId: string): void {
  document.getElementById(cardId(postId))?.focus({ preventScroll: true });
}

/** The id of a post's card in the page. */
export function cardId(postId: string): string {
  return `post-${postId}`;
}
