// What the pages of workflows ask the server for.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Workflow = Schemas["WorkflowView"];
export type WholeWorkflow = Schemas["WholeWorkflow"];
export type Started = Schemas["StartedRun"];
export type Finding = Schemas["ProblemView"];
export type Checked = Schemas["CheckedWorkflow"];
export type Outline = Schemas["OutlineStep"];
export type Input = Schemas["InputView"];

/** News of runs reach what begins with `sessions`. */
export const SHELF = ["sessions", "workflows"];

export function useWorkflows() {
  return useQuery({
    queryKey: SHELF,
    queryFn: () => asked(client.GET("/api/workflows")),
  });
}

export function useWorkflow(name: string | undefined, version?: number) {
  return useQuery({
    queryKey: [...SHELF, name, version],
    enabled: name !== undefined,
    queryFn: () =>
      asked(
        client.GET("/api/workflows/{name}", {
          params: { path: { name: name ?? "" }, query: { ...(version && { version }) } },
        }),
      ),
  });
}

/** What the server finds in a file. What was found before stays until it has answered. */
export function useCheck(source: string) {
  return useQuery({
    queryKey: ["workflow-check", source],
    enabled: source.trim() !== "",
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      asked(client.POST("/api/workflows/check", { body: { source }, signal })),
  });
}

/** What a run would take. */
export function useEstimate(source: string, inputs: object, isSound: boolean) {
  return useQuery({
    queryKey: ["workflow-estimate", source, inputs],
    enabled: isSound,
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      asked(
        client.POST("/api/workflows/estimate", {
          body: { source, inputs: inputs as Record<string, never> },
          signal,
        }),
      ),
  });
}

/** What starts a workflow, in words. */
export function triggersInWords(triggers: Workflow["triggers"]): { by: string; about: string }[] {
  if (triggers.length === 0) return [{ by: "Manual", about: "started by hand" }];
  const names: Record<string, string> = { cron: "Schedule", webhook: "Webhook", signal: "Signal" };
  return triggers.map(({ by, about }) => ({ by: names[by] ?? by, about }));
}
