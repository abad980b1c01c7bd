import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { client, whole } from "../api/client";
import type { Looked } from "./filter";

const PAGE = 40;

/** Sessions that match, page by page. */
export function useFound(looked: Looked) {
  const filter = {
    limit: PAGE,
    ...(looked.q !== "" && { q: looked.q }),
    ...(looked.kind !== "" && { kind: looked.kind }),
    ...(looked.status !== "" && { status: looked.status }),
    ...(looked.active && { active: true }),
    ...(looked.waiting && { waiting: true }),
  };
  const query = useInfiniteQuery({
    queryKey: ["sessions", "history", filter],
    queryFn: ({ pageParam: cursor, signal }) =>
      whole(
        client.GET("/api/sessions", {
          params: { query: { ...filter, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.meta?.next,
    placeholderData: keepPreviousData,
  });
  const pages = query.data?.pages ?? [];
  return {
    rows: pages.flatMap((page) => page.data),
    total: pages[0]?.meta?.total,
    error: query.error,
    isLoading: query.isLoading,
    /** Shows what matched before, until what matches now is there. */
    isStale: query.isPlaceholderData,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  };
}
