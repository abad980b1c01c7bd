// Brings a server to the state that a story begins with, through its interface for programs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { components } from "../src/api/schema";
import type { Server } from "./programs";

type Schemas = components["schemas"];

interface Answer<T> {
  data?: { data: T };
  error?: unknown;
  response: Response;
}

/** The `data` of an answer; anything else ends the story. */
export async function got<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (data === undefined)
    throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data.data;
}

export async function board(server: Server, body: Schemas["NewBoardroom"]): Promise<string> {
  return (await got(server.api.POST("/api/boardrooms", { body }))).id;
}

export function boardView(server: Server, id: string): Promise<Schemas["BoardroomView"]> {
  return got(server.api.GET("/api/boardrooms/{id}", { params: { path: { id } } }));
}

/** Waits until nothing of this session runs any more. */
export async function settled(server: Server, id: string): Promise<void> {
  const params = { path: { id }, query: { seconds: 30 } };
  const report = await got(server.api.GET("/api/sessions/{id}/wait", { params }));
  if (!report.over) throw new Error(`session ${id} is not over: ${JSON.stringify(report)}`);
}

export async function discussion(server: Server, body: Schemas["NewDiscussion"]): Promise<string> {
  return (await got(server.api.POST("/api/discussions", { body }))).id;
}

export function discussionView(server: Server, id: string): Promise<Schemas["DiscussionView"]> {
  return got(server.api.GET("/api/discussions/{id}", { params: { path: { id } } }));
}

/** A whiteboard with agents that act for themselves. */
export class Whiteboard {
  private readonly tokens = new Map<string, string>();

  private constructor(
    private readonly server: Server,
    readonly id: string,
  ) {}

  static async open(
    server: Server,
    id: string,
    topic: string,
    by = "ada",
    more: Partial<Schemas["NewWhiteboard"]> = {},
  ): Promise<Whiteboard> {
    const body = { boardId: id, topic, openedBy: by, ...more };
    const opened = await got(server.api.POST("/api/whiteboards", { body }));
    const whiteboard = new Whiteboard(server, id);
    whiteboard.tokens.set(by, opened.agentToken);
    return whiteboard;
  }

  async register(agentName: string, role: Schemas["BoardRole"] = "specialist"): Promise<void> {
    const params = { path: { board: this.id } };
    const body = { agentName, role };
    const answer = this.server.api.POST("/api/whiteboards/{board}/agents", { params, body });
    this.tokens.set(agentName, (await got(answer)).agentToken);
  }

  /** By which somebody proves to be this agent. */
  tokenOf(agent: string): string {
    const token = this.tokens.get(agent);
    if (token === undefined) throw new Error(`${agent} is not on the board`);
    return token;
  }

  private as(agent: string) {
    return { path: { board: this.id }, header: { "Agent-Token": this.tokenOf(agent) } };
  }

  async post(agent: string, body: Schemas["NewPost"]): Promise<string> {
    const params = this.as(agent);
    const answer = this.server.api.POST("/api/whiteboards/{board}/posts", { params, body });
    return (await got(answer)).postId;
  }

  async annotate(agent: string, body: Schemas["NewAnnotation"]): Promise<string> {
    const params = this.as(agent);
    const answer = this.server.api.POST("/api/whiteboards/{board}/annotations", { params, body });
    const { annotationId } = await got(answer);
    if (annotationId === undefined) throw new Error("the annotation got no id");
    return annotationId;
  }

  async vote(agent: string, body: Schemas["NewVote"]): Promise<void> {
    const params = this.as(agent);
    await got(this.server.api.POST("/api/whiteboards/{board}/votes", { params, body }));
  }

  async move(agent: string, to: Schemas["PhaseName"]): Promise<void> {
    const params = this.as(agent);
    const body = { targetPhase: to };
    await got(this.server.api.POST("/api/whiteboards/{board}/transition", { params, body }));
  }
}

export async function council(server: Server, body: Schemas["NewCouncil"]): Promise<string> {
  return (await got(server.api.POST("/api/councils", { body }))).council;
}

/** What somebody posts first makes the name theirs; later posts prove it by a token. */
export async function say(
  server: Server,
  name: string,
  sender: string,
  bodies: readonly string[],
): Promise<void> {
  let header: { "Agent-Token": string } | undefined;
  for (const body of bodies) {
    const params = { path: { council: name }, ...(header && { header }) };
    const posted = server.api.POST("/api/councils/{council}/posts", {
      params,
      body: { sender, body },
    });
    header = { "Agent-Token": (await got(posted)).agentToken };
  }
}

/** A workflow of the folder of examples, as it is written. */
export function example(name: string): string {
  return readFileSync(join(import.meta.dirname, `../../examples/${name}.yaml`), "utf8");
}

/** Begins a run of this file, in the name of Mira. */
export async function run(server: Server, source: string, inputs: object = {}): Promise<string> {
  const body = { source, inputs: inputs as Record<string, never>, starter: "mira" };
  return (await got(server.api.POST("/api/runs", { body }))).id;
}

export function runView(server: Server, id: string): Promise<Schemas["RunView"]> {
  return got(server.api.GET("/api/runs/{id}", { params: { path: { id } } }));
}

/** Waits until a run waits for a person. */
export async function awaited(server: Server, id: string): Promise<void> {
  for (;;) {
    const { status, waitsFor, version } = await runView(server, id);
    if (waitsFor.length > 0) return;
    if (status !== "running") throw new Error(`run ${id} is ${status} at ${version}`);
    const params = { path: { id }, query: { seconds: 1, seen: "" } };
    await server.api.GET("/api/sessions/{id}/wait", { params });
  }
}

/** Stores workflows of the folder of examples. */
export async function stored(server: Server, ...names: string[]): Promise<void> {
  for (const name of names) {
    await got(server.api.POST("/api/workflows", { body: { source: example(name) } }));
  }
}

/** Begins a run of a stored workflow. */
export async function startStored(server: Server, name: string, inputs: object): Promise<string> {
  const params = { path: { name } };
  const body = { inputs: inputs as Record<string, never>, starter: "mira" };
  return (await got(server.api.POST("/api/workflows/{name}/runs", { params, body }))).id;
}
