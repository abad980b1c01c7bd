// Whatever a model writes, only these elements, attributes and addresses come of it.

import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { isSafe, Markdown } from "./Markdown";

afterEach(cleanup);

const PAYLOADS = [
  "<script>alert(1)</script>",
  "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
  "<scr<script>ipt>alert(1)</scr</script>ipt>",
  "<img src=x onerror=alert(1)>",
  '<img src="javascript:alert(1)">',
  '"><img src=x onerror=alert(1)>',
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  "<iframe src=javascript:alert(1)></iframe>",
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  "<object data=javascript:alert(1)></object>",
  "<embed src=data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==>",
  '<a href="javascript:alert(1)">x</a>',
  '<a href=" &#106;avascript:alert(1)">x</a>',
  "<body onload=alert(1)>",
  "<details open ontoggle=alert(1)>x</details>",
  "<input autofocus onfocus=alert(1)>",
  "<video><source onerror=alert(1)></video>",
  "<marquee onstart=alert(1)>x</marquee>",
  '<div style="background:url(javascript:alert(1))">x</div>',
  "<style>@import 'https://evil.example/x.css';</style>",
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<base href="https://evil.example/">',
  '<form action="javascript:alert(1)"><button>x</button></form>',
  "<template><script>alert(1)</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
  "<!--<img src='--><img src=x onerror=alert(1)>",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<?php echo 1 ?><script>alert(1)</script>",
  "<x onclick=alert(1)>x</x>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](java&#9;script:alert(1))",
  "[x](&#x6A;avascript:alert(1))",
  "[x](javascript&colon;alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](<javascript:alert(1)>)",
  "[x]( javascript:alert(1))",
  "[x](vbscript:msgbox(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
  "[x](blob:https://example.org/1)",
  "[x](file:///etc/passwd)",
  "[x](//evil.example/x)",
  "[x](/api/sessions)",
  "[x](view-source:https://example.org)",
  '[x](https://example.org "onmouseover=alert(1)")',
  '[x](https://example.org"onmouseover="alert(1))',
  "[x][1]\n\n[1]: javascript:alert(1)",
  "[x]\n\n[x]: data:text/html,1",
  "<javascript:alert(1)>",
  "<https://example.org/<script>alert(1)</script>>",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/track.png)",
  '![x](x "onerror=alert(1)")',
  '![" onerror="alert(1)](x)',
  "[![x](javascript:alert(1))](javascript:alert(2))",
  "[![x](https://evil.example/a.png)](https://example.org)",
  "`<img src=x onerror=alert(1)>`",
  "```html\n<script>alert(1)</script>\n```",
  '```"><script>alert(1)</script>\nx\n```',
  "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  "# <img src=x onerror=alert(1)>",
  "> <script>alert(1)</script>",
  "- <script>alert(1)</script>\n- [x](javascript:alert(1))",
  "- [x] <img src=x onerror=alert(1)>",
  "**<script>alert(1)</script>**",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&#60;img src=x onerror=alert(1)&#62;",
  "\\<script>alert(1)</script>",
  "www.evil.example/<script>alert(1)</script>",
  "javascript:alert(1)",
  "{{constructor.constructor('alert(1)')()}}",
  "$" + "{alert(1)}",
  "$\\href{javascript:alert(1)}{x}$",
  "$$\\url{javascript:alert(1)}$$",
  "$\\htmlClass{x}{y}$ $\\style{color:red}{x}$ $\\unicode{x}$",
  "$\\text{<img src=x onerror=alert(1)>}$",
  "$$<img src=x onerror=alert(1)>$$",
  "$\\def\\x{\\x\\x}\\x$",
  "\\(\\require{html}<script>alert(1)</script>\\)",
  "<img\u0000src=x onerror=alert(1)>",
  "\u202e<script>alert(1)</script>",
];

const ELEMENTS = new Set(
  (
    "A BLOCKQUOTE BR CODE DEL DIV EM H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG TABLE TBODY TD TH " +
    "THEAD TR UL math mfrac mi mn mo mover mroot mrow mspace msqrt msub msubsup msup mtable mtd " +
    "mtext mtr munder munderover"
  ).split(" "),
);
/** An attribute, and what it may say. */
const ATTRIBUTES: Record<string, RegExp> = {
  class: /^(?:markdown(?: serif)?|block|table|task|code-block|c-[a-z]+)$/,
  href: /^(?:https?:\/\/|mailto:)/i,
  target: /^_blank$/,
  rel: /^noreferrer noopener nofollow$/,
  tabindex: /^0$/,
  role: /^group$/,
  "aria-label": /^(?:Code|Table)$/,
  scope: /^col$/,
  "data-align": /^(?:left|center|right)$/,
  start: /^\d+$/,
  display: /^block$/,
  width: /^-?\d[\d.]*em$/,
  accent: /^true$/,
  movablelimits: /^true$/,
  form: /^prefix$/,
  linethickness: /^0$/,
};

function wrongIn(container: Element): string[] {
  const wrong: string[] = [];
  for (const element of container.querySelectorAll("*")) {
    // Our own button, under which no words of the text stand.
    const button = element.closest("button");
    if (button?.getAttribute("aria-label") === "Copy code" && button.textContent === "") continue;
    if (!ELEMENTS.has(element.tagName)) wrong.push(element.tagName);
    for (const { name, value } of element.attributes) {
      if (!ATTRIBUTES[name]?.test(value)) wrong.push(`${element.tagName} ${name}=${value}`);
    }
    const href = element.getAttribute("href");
    // As a browser reads it.
    if (href !== null && !["http:", "https:", "mailto:"].includes(new URL(href).protocol)) {
      wrong.push(`href ${href}`);
    }
  }
  return wrong;
}

function check(text: string): void {
  for (const live of [true, false]) {
    const { container, unmount } = render(<Markdown text={text} live={live} />);
    expect(wrongIn(container), text).toEqual([]);
    unmount();
  }
}

describe("text that wants to be more than text", () => {
  it.each(PAYLOADS)("%j", (payload) => check(payload));

  it("stays text in every place and at every length", () => {
    const around = fc.constantFrom(
      "X",
      "> X",
      "- X",
      "| X |\n|---|\n| X |",
      "**X**",
      "[X](X)",
      "![X](X)",
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...PAYLOADS), around), { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (chosen, length) => {
          const text = chosen
            .map(([payload, place]) => place.replaceAll("X", () => payload))
            .join("\n\n");
          check(text.slice(0, 1 + (length % text.length)));
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it("can be told from what is allowed", () => {
    const { container } = render(
      <Markdown text="[a](https://example.org) and [b](mailto:a@example.org)" />,
    );
    expect([...container.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
      "https://example.org",
      "mailto:a@example.org",
    ]);
    const foreign = document.createElement("div");
    foreign.append(document.createElement("img"));
    expect(wrongIn(foreign)).toEqual(["IMG"]);
  });

  it("shows HTML as it was written", () => {
    const { container } = render(<Markdown text={"<b>bold</b>\n\n<div>\nblock\n</div>"} />);
    expect(container.textContent).toBe("<b>bold</b><div>\nblock\n</div>");
  });

  it("fetches no picture", () => {
    const { container } = render(<Markdown text="![a chart](https://example.org/chart.png)" />);
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toBe("[image: a chart]");
  });

  it("puts no link into a link", () => {
    const { container } = render(
      <Markdown text="[![a](https://example.org/a.png)](https://example.org)" />,
    );
    expect(container.querySelectorAll("a a")).toHaveLength(0);
    expect(container.querySelectorAll("a")).toHaveLength(1);
  });

  it("survives nesting that is deeper than a stack", () => {
    for (const text of [
      "> ".repeat(3_000) + "x",
      "- ".repeat(2_000) + "x",
      "> ".repeat(200) + "x",
    ]) {
      check(text);
    }
  });

  it("reads names of characters in text, and not in code", () => {
    const { container } = render(<Markdown text={"a&nbsp;&lt;b&gt; &#8364; `&lt;` &unknown;"} />);
    expect(container.textContent).toBe("a\u00a0<b> € &lt; &unknown;");
  });
});

describe("isSafe", () => {
  it.each([
    ["https://example.org", true],
    ["HTTP://example.org", true],
    ["mailto:a@example.org", true],
    ["javascript:alert(1)", false],
    ["java\tscript:alert(1)", false],
    [" javascript:alert(1)", false],
    ["data:text/html,1", false],
    ["//example.org", false],
    ["/path", false],
    ["#here", false],
    ["", false],
  ])("%j: %s", (href, safe) => expect(isSafe(href)).toBe(safe));
});
