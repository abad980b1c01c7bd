import type { ReactNode } from "react";
import { Link } from "wouter";
import { Problem } from "../api/client";
import type { Connection } from "../live/follow";
import { useTitle } from "../shell/title";
import { Empty, Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { kindName, kindOf, listOf } from "./kinds";
import { useLabel } from "./label";

interface Props<View> {
  kind: string;
  /** What one of them is called, where that is something else. */
  noun?: string;
  query: { data: View | undefined; error: unknown; refetch: () => unknown };
  connection?: Connection;
  /** The session's id, by which somebody may have called it something else. */
  id?: (view: View) => string;
  title: (view: View) => string;
  /** What to show in place of an error, where this page knows better. */
  refused?: (error: Problem) => ReactNode;
  children: (view: View) => ReactNode;
}

/** Statuses by which the server says that there is no such session. */
const MISSING: readonly number[] = [400, 404, 422];

/** A session's page, or why there is none: it loads, it cannot be had, or it is gone. */
export function SessionPage<View>(props: Props<View>) {
  const { kind, noun = oneOf(kind), query, connection, id, title, refused, children } = props;
  const { data, error } = query;
  const label = useLabel(data === undefined ? undefined : id?.(data));
  useTitle(label?.renamed ? label.title : data === undefined ? noun : title(data));
  const problem = error instanceof Problem ? error : undefined;
  const isMissing = problem !== undefined && MISSING.includes(problem.status);
  if (data !== undefined && !isMissing && connection !== "gone") return children(data);
  const told = problem && refused?.(problem);
  const isGone = (isMissing && !told) || connection === "gone";
  return (
    <div className="page">
      <h1>{isGone ? `${noun} not found` : noun}</h1>
      {isGone ? (
        <Empty action={<Link href={listOf(kind)}>All {kindOf(kind)?.plural.toLowerCase()}</Link>}>
          It may have been removed, or the address is mistyped.
        </Empty>
      ) : (
        (told ??
        (error ? <Wrong error={error} onRetry={() => void query.refetch()} /> : <Loading />))
      )}
    </div>
  );
}

/** A boardroom holds boards, and a workflow is run. */
const ONES: Record<string, string> = { boardroom: "Board", workflow: "Run" };

export function oneOf(kind: string): string {
  return ONES[kind] ?? kindName(kind);
}
