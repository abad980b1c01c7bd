import { useMemo } from "react";
import { useSearch } from "wouter";

/**
 * What the address asks for. The router decodes the search once already, so that `%20` or `&`
 * in somebody's words would be decoded a second time; the browser's own is as it was sent.
 */
export function useAsked(): URLSearchParams {
  const search = useSearch() && window.location.search;
  return useMemo(() => new URLSearchParams(search), [search]);
}
