import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { highlighted, yamlLine } from "./highlight";

/** Every part in a colour, with its look. */
function check(shown: ReturnType<typeof highlighted>, expected: Record<string, string>): void {
  const { container } = render(<pre>{shown}</pre>);
  const parts = [...container.querySelectorAll("span")];
  expect(Object.fromEntries(parts.map((one) => [one.textContent, one.className.slice(2)]))).toEqual(
    expected,
  );
}

it("keywords, texts, numbers and comments have colours", () => {
  check(highlighted('let row = get("a // b", 30)?; // why', "rust"), {
    let: "key",
    '"a // b"': "text",
    "30": "number",
    "// why": "comment",
  });
  check(highlighted("SELECT 'x' -- all\nFROM t", "sql"), {
    SELECT: "key",
    "'x'": "text",
    "-- all": "comment",
    FROM: "key",
  });
  check(highlighted("if x: # why\n  pass", "Python"), {
    if: "key",
    "# why": "comment",
    pass: "key",
  });
  check(highlighted("-old\n+new\n same", "diff"), { "-old": "out", "+new": "in" });
});

it("a line of a workflow has keys, texts, templates and comments", () => {
  check(yamlLine("  ask: { prompt: '{{ a }}', who: \"b#c\" } # why"), {
    "  ask": "key",
    prompt: "key",
    "'{{ a }}'": "template",
    who: "key",
    '"b#c"': "text",
    "# why": "comment",
  });
});

it("what is in no known language, or very long, stays as it is", () => {
  expect(highlighted("let x", "")).toBe("let x");
  expect(highlighted("let x", "brainfuck")).toBe("let x");
  const long = "let x;\n".repeat(4_000);
  expect(highlighted(long, "rust")).toBe(long);
});

it("no text gets lost, whatever it is", () => {
  const text = 'a "unclosed\n/* open `x` 0x1F <script>alert(1)</script> é';
  for (const language of ["rust", "python", "sql", "yaml", "diff", "json"]) {
    const { container } = render(<pre>{highlighted(text, language)}</pre>);
    expect(container.textContent).toBe(text);
    expect(container.querySelector("script")).toBeNull();
  }
});
