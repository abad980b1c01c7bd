import { describe, expect, it } from "vitest";
import { Problem, type Schemas } from "../api/client";
import { NO_LIMIT } from "../ui/Budget";
import type { Agent } from "../library/useAgents";
import {
  agentSeat,
  body,
  FRESH,
  seated,
  stepOf,
  wrongs,
  wrongsOf,
  type Limits,
  type Draft,
  type SeatDraft,
} from "./draft";

const LIMITS: Limits = {
  participants: 16,
  roundsUsual: 5,
  roundsMost: 50,
  budgetLeast: 1_000,
  topicBytes: 64 * 1024,
  files: 16,
  fileBytes: 512 * 1024,
  filesBytes: 1024 * 1024,
  dataBytes: 9 * 1024 * 1024,
};

const PRESETS: Schemas["DiscussionPresets"] = {
  formats: [
    {
      id: "deliberation",
      instruction: "Weigh.",
      moderatorId: "the-chair",
      participants: [
        { agentId: "engineer", role: "participant" },
        { agentId: "skeptic", role: "devil_advocate" },
      ],
    },
  ],
  roles: [],
};

function agent(id: string, name: string): Agent {
  return { id, name, description: "", formats: [], isBuiltIn: true, isFacilitator: false };
}

const AGENTS = [
  agent("the-chair", "The Chair"),
  agent("engineer", "Engineer"),
  agent("skeptic", "Skeptic"),
];

function person(name: string, more: Partial<SeatDraft> = {}): SeatDraft {
  const seat = { persona: "", choice: "", role: "participant" } as const;
  return { key: name, kind: "person", name, ...seat, ...more };
}

function draft(part: Partial<Draft> = {}) {
  return seated({ ...FRESH, topic: "Why?", ...part }, PRESETS);
}

function found(part: Partial<Draft>): Record<string, string> {
  return Object.fromEntries(wrongs(draft(part), AGENTS, LIMITS));
}

describe("a draft", () => {
  it("that only has a topic is filled with who is usual", () => {
    expect(body(draft(), true)).toEqual({
      topic: "Why?",
      format: "deliberation",
      moderatorId: "the-chair",
      participants: [
        { agentId: "engineer", role: "participant" },
        { agentId: "skeptic", role: "devil_advocate" },
      ],
      start: true,
    });
    expect(found({})).toEqual({});
  });

  it("says everything that was filled in", () => {
    const whole = draft({
      name: " Caching ",
      files: [{ name: "a.md", text: "A" }],
      leader: { kind: "person", name: " Ada ", choice: "", replyWithinSeconds: 60 },
      seats: [
        { ...agentSeat("engineer"), choice: "tier:strong" },
        {
          key: "1",
          kind: "model",
          name: "Operations",
          persona: "You carry the pager.",
          choice: "model:ollama/qwen3",
          role: "devil_advocate",
        },
        person("Bob", { role: "observer" }),
      ],
      choice: "model:ollama/llama3",
      isFixed: true,
      rounds: "8",
      allowance: { tokens: "50000", cost: "", seconds: "900" },
    });
    expect(body(whole, false)).toEqual({
      topic: "Why?",
      format: "deliberation",
      name: "Caching",
      context: [{ name: "a.md", text: "A" }],
      facilitator: { person: "Ada", replyWithinSeconds: 60 },
      participants: [
        { agentId: "engineer", role: "participant", tier: "strong" },
        {
          name: "Operations",
          persona: "You carry the pager.",
          model: "ollama/qwen3",
          role: "devil_advocate",
        },
        { person: "Bob", role: "observer" },
      ],
      model: "ollama/llama3",
      maxRounds: 8,
      budget: { tokens: 50_000, seconds: 900 },
      start: false,
    });
  });

  it("gives a facilitator with a model of its own a seat", () => {
    const leader = { kind: "agent", agentId: "the-chair", name: "", choice: "tier:fast" } as const;
    const made = body(draft({ leader }), false);
    expect(made.moderatorId).toBeUndefined();
    expect(made.facilitator).toEqual({ agentId: "the-chair", tier: "fast" });
  });
});

describe("what is wrong with a draft", () => {
  const NAMELESS = { kind: "person", name: " ", choice: "" } as const;

  it("names a missing topic", () => {
    expect(Object.keys(found({ topic: "  " }))).toEqual(["topic"]);
  });
  it("counts the bytes of a topic", () => {
    expect(Object.keys(found({ topic: "é".repeat(LIMITS.topicBytes / 2 + 1) }))).toEqual(["topic"]);
    expect(found({ topic: "é".repeat(LIMITS.topicBytes / 2) })).toEqual({});
  });
  it("wants a name of the person who leads", () => {
    expect(Object.keys(found({ leader: NAMELESS }))).toEqual(["facilitator.person"]);
  });
  it("wants somebody who speaks", () => {
    expect(Object.keys(found({ seats: [person("Ada", { role: "observer" })] }))).toEqual([
      "participants",
    ]);
  });
  it("tells who leads and takes part, and who is there twice", () => {
    const seats = [
      agentSeat("engineer"),
      person("the chair"),
      person("ENGINEER"),
      agentSeat("skeptic"),
    ];
    expect(found({ seats })).toEqual({
      "participants[1]": "the chair leads the discussion and cannot take part too.",
      "participants[2]": "ENGINEER is already taking part.",
    });
  });
  it("wants whole numbers within limits, where there are numbers", () => {
    for (const rounds of ["0", "51", "2.5", "", "five", "-3"]) {
      expect(Object.keys(found({ isFixed: true, rounds }))).toEqual(["maxRounds"]);
    }
    expect(found({ isFixed: false, rounds: "five" })).toEqual({});
    expect(found({ isFixed: true, rounds: "50" })).toEqual({});
    const tokens = (tokens: string) => found({ allowance: { ...NO_LIMIT, tokens } });
    expect(Object.keys(tokens("999"))).toEqual(["budget.tokens"]);
    expect(tokens("1,000")).toEqual({});
  });
});

describe("a field of the server", () => {
  it("stands in a step", () => {
    const steps = {
      topic: 1,
      "context[0].text": 1,
      name: 1,
      moderatorId: 2,
      "facilitator.model": 2,
      "participants[3].model": 2,
      model: 2,
      maxRounds: 3,
      "budget.tokens": 3,
    };
    for (const [field, step] of Object.entries(steps)) expect(stepOf(field)).toBe(step);
  });
  it("is told as a sentence", () => {
    const fields = [{ field: "maxRounds", problem: "must be from 1 to 50" }];
    const problem = new Problem(422, "invalid", "Wrong.", undefined, fields);
    expect([...wrongsOf(problem)]).toEqual([["maxRounds", "Must be from 1 to 50."]]);
  });
});
