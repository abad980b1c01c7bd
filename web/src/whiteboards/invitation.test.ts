import { expect, it } from "vitest";
import { invitedBy, linkOf } from "./invitation";

it("a link brings back what was put into it", () => {
  const invited = { name: "bob@home", role: "operator", invitation: "a+b/c=" } as const;
  const link = linkOf("plan b", invited, "http://here");
  expect(link.startsWith("http://here/whiteboards/plan%20b#")).toBe(true);
  expect(invitedBy(new URL(link).hash)).toEqual(invited);
});

it("what is no invitation is none", () => {
  for (const hash of ["", "#posts", "#invitation=x", "#invitation=x&role=king", "#role=operator"]) {
    expect(invitedBy(hash)).toBeUndefined();
  }
});
