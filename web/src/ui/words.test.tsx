import { act, cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { Markdown } from "../markdown/Markdown";
import { Age } from "./Age";
import { announce, Announcer } from "./announce";
import { Dialog } from "./Dialog";
import { TextArea, TextField } from "./Field";
import { spentInWords } from "./Spent";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it("says the same words again as something new, also inside a dialog", () => {
  const { container } = render(
    <>
      <Announcer />
      <Dialog title="A dialog" onClose={() => undefined}>
        <p>Inside.</p>
      </Dialog>
    </>,
  );
  const said = () => [...container.querySelectorAll('[role="status"] p')];
  act(() => announce("Copied"));
  const first = said();
  expect(first.map((one) => [one.textContent, one.closest("dialog") !== null])).toEqual([
    ["Copied", false],
    ["Copied", true],
  ]);
  act(() => announce("Copied"));
  const second = said();
  expect(second.map((one) => one.textContent)).toEqual(["Copied", "Copied"]);
  expect(second.some((one) => first.includes(one))).toBe(false);
});

it("does not say in a dialog what was said before it opened", () => {
  act(() => announce("Long ago"));
  const { container } = render(
    <Dialog title="A dialog" onClose={() => undefined}>
      <p>Inside.</p>
    </Dialog>,
  );
  expect(container.textContent).not.toContain("Long ago");
});

it("ages while somebody looks on", () => {
  vi.useFakeTimers();
  const { container } = render(<Age at={new Date().toISOString()} />);
  expect(container.textContent).toBe("just now");
  act(() => void vi.advanceTimersByTime(3_600_000));
  expect(container.textContent).toBe("1 hour ago");
});

it("sends by Ctrl or Command with Enter, but not what is being composed", () => {
  const sent = vi.fn((event: React.FormEvent) => event.preventDefault());
  const { getByRole } = render(
    <form onSubmit={sent}>
      <TextArea label="Answer" value="Yes." onChange={() => undefined} />
      <button type="submit">Send</button>
    </form>,
  );
  const area = getByRole("textbox");
  fireEvent.keyDown(area, { key: "Enter" });
  fireEvent.keyDown(area, { key: "Enter", ctrlKey: true, isComposing: true });
  fireEvent.keyDown(area, { key: "Enter", metaKey: true, keyCode: 229 });
  expect(sent).not.toHaveBeenCalled();
  fireEvent.keyDown(area, { key: "Enter", ctrlKey: true });
  fireEvent.keyDown(area, { key: "Enter", metaKey: true });
  expect(sent).toHaveBeenCalledTimes(2);
});

it("makes a sentence of what the server says of a field", () => {
  const wrong = (text: string) => {
    const field = <TextField label="Name (optional)" wrong={text} readOnly value="" />;
    const words = render(field).container.querySelector(".wrong")?.textContent;
    cleanup();
    return words;
  };
  expect(wrong("must not be empty")).toBe("Name must not be empty.");
  expect(wrong("Somebody here has this name.")).toBe("Somebody here has this name.");
});

it("marks a task once, also where paragraphs stand apart", () => {
  for (const list of ["- [ ] one\n- [x] two", "- [ ] one\n\n- [x] two"]) {
    const { container } = render(<Markdown text={list} under={2} />);
    expect(container.textContent?.replace(/\s+/g, " ").trim()).toBe("☐ one☑ two");
    expect(container.querySelectorAll("li.task")).toHaveLength(2);
    cleanup();
  }
});

it("tells what was spent, as far as it is known", () => {
  const usage = { inputTokens: 1_204, cachedTokens: 800, outputTokens: 312, reasoningTokens: 96 };
  expect(spentInWords({}, {})).toBe("");
  expect(spentInWords(usage, { cost: 0.0031, currency: "EUR" })).toBe(
    "1,204 in (800 cached) · 312 out (96 thinking) · €0.0031",
  );
  expect(spentInWords({ outputTokens: 12_400, costUsd: 2 }, {})).toBe("12.4k out · $2.00");
});
