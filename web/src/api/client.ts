// The one way to the server: a client typed by the OpenAPI document, with every answer
// either its `data` or a thrown `Problem`.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";
import { tokenIsWanted } from "./access";
import { isFromProxy, serverWasSilent } from "./reachable";

export type Schemas = components["schemas"];

/** Why a request was refused, in the server's words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint?: string,
    readonly fields: Schemas["FieldBody"][] = [],
  ) {
    super(message);
  }

  /** What is wrong with one field of a form, by the name it has in the request. */
  field(name: string): string | undefined {
    return this.fields.find((one) => one.field === name)?.problem;
  }
}

export const client = createClient<paths>({ baseUrl: "/", fetch: reach });

async function reach(request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    serverWasSilent();
    throw new Problem(0, "unreachable", "The server is not responding.", "Is it still running?");
  }
  if (response.status === 401) tokenIsWanted();
  if (isFromProxy(response.status)) serverWasSilent();
  return response;
}

interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

/** The `data` of an answer. */
export async function asked<T>(answer: Promise<Answer<{ data: T }>>): Promise<T> {
  return (await whole(answer)).data;
}

/** The whole body of an answer, for lists that come in pages. */
export async function whole<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
  const { data, error, response } = await answer;
  if (data !== undefined && response.ok) return data;
  throw problem(response.status, error);
}

/** What an address has that is no JSON, as the record of a session in Markdown. */
export async function textAt(address: string): Promise<string> {
  const response = await reach(new Request(address));
  if (response.ok) return response.text();
  throw problem(response.status, await response.json().catch(() => undefined));
}

function problem(status: number, body: unknown): Problem {
  const error = (body as Partial<Schemas["ProblemBody"]> | undefined)?.error;
  if (!error && status === 504) {
    return new Problem(status, "unexpected", "The server did not respond in time. Try again.");
  }
  if (!error) return new Problem(status, "unexpected", `The server returned ${status}.`);
  return new Problem(status, error.code, error.message, error.hint, error.fields);
}

/** A key under which a write is carried out once, however often it is sent. */
export function writeKey(): { "Idempotency-Key": string } {
  // Not `randomUUID`, which browsers keep from pages that came by plain http over a network.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return {
    "Idempotency-Key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
}
