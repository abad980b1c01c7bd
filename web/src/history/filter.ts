// What is looked for, kept in the address, so that a search can be bookmarked and shared.

export interface Looked {
  q: string;
  kind: string;
  status: string;
  /** Only what runs. */
  active: boolean;
  /** Only what waits for somebody. */
  waiting: boolean;
}

export const EVERYTHING: Looked = { q: "", kind: "", status: "", active: false, waiting: false };

export function read(params: URLSearchParams): Looked {
  return {
    q: params.get("q") ?? "",
    kind: params.get("kind") ?? "",
    status: params.get("status") ?? "",
    active: params.get("active") === "true",
    waiting: params.get("waiting") === "true",
  };
}

/** The address of a search; what is not looked for is not in it. */
export function address(looked: Looked): string {
  const params = new URLSearchParams();
  for (const name of ["q", "kind", "status"] as const) {
    if (looked[name] !== "") params.set(name, looked[name]);
  }
  for (const name of ["active", "waiting"] as const) {
    if (looked[name]) params.set(name, "true");
  }
  const search = params.toString();
  return search === "" ? "/history" : `/history?${search}`;
}

/** As the server takes it. */
export function filterOf({ q, kind, status, active, waiting }: Looked) {
  return {
    ...(q !== "" && { q }),
    ...(kind !== "" && { kind }),
    ...(status !== "" && { status }),
    ...(active && { active }),
    ...(waiting && { waiting }),
  };
}

export function isNarrowed(looked: Looked): boolean {
  return address(looked) !== "/history";
}
