import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { Marked } from "./Marked";

function check(text: string, words: string, marked: string[]): void {
  const { container } = render(<Marked text={text} words={words} />);
  expect(container.textContent).toBe(text);
  expect([...container.querySelectorAll("mark")].map((one) => one.textContent)).toEqual(marked);
}

it("marks words where they begin, in any case", () => {
  check("An Outbox beats the inbox. outboxes", "outbox", ["Outbox", "outbox"]);
  check("Über die Brücke", "brü über", ["Über", "Brü"]);
});

it("marks nothing where nothing was searched for, and takes no pattern from anybody", () => {
  check("a.b (c", " ", []);
  check("a.b (c", "( .*", []);
});
