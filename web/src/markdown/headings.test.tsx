// @vitest-environment happy-dom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Markdown } from "./Markdown";

afterEach(cleanup);

function check(text: string, levels: string[]) {
  const { container } = render(<Markdown text={text} under={2} />);
  const found = [...container.querySelectorAll("h1, h2, h3, h4, h5, h6")];
  expect(found.map((one) => one.tagName.toLowerCase())).toEqual(levels);
  cleanup();
}

test("headings leave out no level, whatever the text does", () => {
  check("# A\n\n## B\n\ntext\n\n# C\n", ["h3", "h4", "h3"]);
  check("### A\n\ntext\n\n### B\n", ["h3", "h3"]);
  check("# A\n\n#### B\n\n## C\n\n### D", ["h3", "h4", "h4", "h5"]);
  check("text\n\n> ### quoted\n\n## A", ["h3", "h3"]);
  check("Title\n===\n\nSub\n---\n", ["h3", "h4"]);
});
