import { expect, it, vi } from "vitest";
import { actionCommands, matching, pageCommands, placeCommands, sessionCommands } from "./commands";

const labels = (commands: { label: string }[]) => commands.map((command) => command.label);

it("finds by the beginnings of words, in any order", () => {
  const all = actionCommands(vi.fn(), "system", vi.fn());
  expect(labels(matching(all, "dis new"))).toEqual(["New discussion"]);
  expect(labels(matching(all, "DARK"))).toEqual(["Dark theme"]);
  expect(labels(matching(all, "convene"))).toEqual(["New board"]);
  expect(labels(matching(all, "ark"))).toEqual([]);
});

it("offers everything to whoever has typed nothing", () => {
  const all = placeCommands(vi.fn());
  expect(matching(all, "  ")).toHaveLength(all.length);
});

it("does not offer the theme that is in force", () => {
  const all = labels(actionCommands(vi.fn(), "dark", vi.fn()));
  expect(all).toContain("Light theme");
  expect(all).toContain("System theme");
  expect(all).not.toContain("Dark theme");
});

it("runs what a page has named, and does not offer itself", () => {
  const run = vi.fn();
  const commands = pageCommands([
    { key: "Mod+k", label: "Search and commands", run: vi.fn() },
    { key: "s", label: "Scroll together", run },
  ]);
  expect(labels(commands)).toEqual(["Scroll together"]);
  commands[0]?.run();
  expect(run).toHaveBeenCalledOnce();
});

it("goes to a session by its name, and says whom it waits for", () => {
  const go = vi.fn();
  const session = {
    id: "1",
    kind: "council",
    name: "tea",
    title: "Which tea",
    status: "open",
    active: false,
    createdAt: "",
    updatedAt: "",
    waitsFor: ["Ada", "Ben"],
  };
  const [command] = sessionCommands([session], go);
  expect(command?.note).toBe("Waiting for Ada, Ben");
  command?.run();
  expect(go).toHaveBeenCalledWith("/councils/tea");
});
