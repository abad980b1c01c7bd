import { expect, test } from "vitest";
import { changeOf, memberName, modelOf, NO_EDIT } from "./newCouncil";

test("an agent's name becomes one that can stand after an @", () => {
  expect(memberName("The User’s Voice")).toBe("The-Users-Voice");
  expect(memberName("  Zoë (copy 2)")).toBe("Zoe-copy-2");
  expect(memberName("pr-reviewer@v1.0.0")).toBe("pr-reviewer@v1.0.0");
  expect(memberName("評論家")).toBe("");
});

test("an agent speaks by its own model, its tier's, or any", () => {
  const agent = {
    id: "a",
    name: "A",
    description: "",
    formats: [],
    isBuiltIn: false,
    isFacilitator: false,
  };
  const tiers = [{ tier: "fast" as const, model: "o/small", configured: false }];
  const models = [
    { name: "o/tiny", provider: "o", automatic: false },
    { name: "o/any", provider: "o", automatic: true },
  ];
  expect(modelOf({ ...agent, model: "o/own", tier: "fast" }, tiers, models)).toBe("o/own");
  expect(modelOf({ ...agent, tier: "fast" }, tiers, models)).toBe("o/small");
  expect(modelOf({ ...agent, tier: "strong" }, tiers, models)).toBe("o/any");
  expect(modelOf(agent, [], [])).toBe("");
});

test("only what is different is sent, and nothing where nothing is", () => {
  const council = { charter: "Plans.", members: [{ name: "Ann", model: "o/a" }] };
  expect(changeOf(NO_EDIT, council)).toBeUndefined();
  expect(changeOf({ ...NO_EDIT, charter: "Plans.", remove: ["Bo"] }, council)).toBeUndefined();
  const add = [{ name: " Cy ", model: "", persona: " " }];
  expect(changeOf({ charter: "Other.", remove: ["Ann", "Bo"], add }, council)).toEqual({
    charter: "Other.",
    removeMembers: ["Ann"],
    addMembers: [{ name: "Cy", model: null, persona: null }],
  });
});
