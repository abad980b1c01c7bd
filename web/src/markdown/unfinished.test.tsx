// What a reader sees of a sentence that is still being written.

import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Markdown } from "./Markdown";

afterEach(cleanup);

function check(text: string, shown: string): void {
  const { container, unmount } = render(<Markdown text={text} live />);
  const html = container.innerHTML
    .replace(/^<div class="markdown">|<\/div>$/g, "")
    .replace(/<div class="block">(.*?)<\/div>(?=<div class="block">|$)/gs, "$1")
    .replace(/ (?:tabindex|role|aria-label|scope|target|rel)="[^"]*"/g, "");
  unmount();
  expect(html).toBe(shown);
}

const TABLE =
  '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>ROWS</tbody></table></div>';

it("lets half a table row wait", () => {
  check(
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 ",
    TABLE.replace("ROWS", "<tr><td>1</td><td>2</td></tr>"),
  );
  check("| a | b |\n|---|---|\n| 1", TABLE.replace("ROWS", ""));
});

it("shows a table's first row once the line below says that it is one", () => {
  check("Before\n\n| a | b", "<p>Before</p>");
  check("Before\n\n| a | b |\n", "<p>Before</p>");
  check("Before\n\n| a | b |\n|--", "<p>Before</p>");
  check("| a | b |\n|---|---|\n", TABLE.replace("ROWS", ""));
});

it("shows what only looks like a table", () => {
  check("| a | b |\nand so on", "<p>| a | b |\nand so on</p>");
});

it("closes emphasis that has begun", () => {
  check("a **strong wo", "<p>a <strong>strong wo</strong></p>");
  check("a **strong ", "<p>a <strong>strong</strong> </p>");
  check("a *soft wo", "<p>a <em>soft wo</em></p>");
  check("a __strong", "<p>a <strong>strong</strong></p>");
  check("a ~~gone", "<p>a <del>gone</del></p>");
  check("***both", "<p><em><strong>both</strong></em></p>");
  check("**strong and *soft", "<p><strong>strong and <em>soft</em></strong></p>");
  check("- item\n- **strong wo", "<ul><li>item</li><li><strong>strong wo</strong></li></ul>");
  check("**begun\non another line", "<p><strong>begun\non another line</strong></p>");
});

it("closes emphasis of which the end is half there", () => {
  check("**strong*", "<p><strong>strong</strong></p>");
  check("**strong**", "<p><strong>strong</strong></p>");
});

it("leaves alone what opens nothing", () => {
  check("2 * 3 is", "<p>2 * 3 is</p>");
  check("snake_case is", "<p>snake_case is</p>");
  check("a \\*star is", "<p>a *star is</p>");
  check("**one** and two", "<p><strong>one</strong> and two</p>");
});

it("lets a mark at the very end wait", () => {
  check("a**", "<p>a</p>");
  check("a `", "<p>a </p>");
  check("a\\", "<p>a</p>");
});

it("closes code that has begun", () => {
  check("use `let a", "<p>use <code>let a</code></p>");
  check("use ``a ` b", "<p>use <code>a ` b</code></p>");
  check("use `**not strong", "<p>use <code>**not strong</code></p>");
  check("**see `code", "<p><strong>see <code>code</code></strong></p>");
});

it("shows the words of a link that has begun", () => {
  check("see [the pa", "<p>see the pa</p>");
  check("see [the page](https://exam", "<p>see the page</p>");
  check("see ![a picture](https://exam", "<p>see a picture</p>");
  check("**see [the page](htt", "<p><strong>see the page</strong></p>");
  check(
    "see [the page](https://example.org) and",
    '<p>see <a href="https://example.org">the page</a> and</p>',
  );
});

it("turns no paragraph into a heading because a list begins", () => {
  check("Reasons:\n-", "<p>Reasons:</p>");
  check("Reasons:\n- one", "<p>Reasons:</p><ul><li>one</li></ul>");
  check("Reasons:\n\n1", "<p>Reasons:</p>");
  check("Reasons:\n\n1.", "<p>Reasons:</p>");
});

it("shows code as it comes, without the marks around it", () => {
  check("```js", "");
  check("```js\nlet a = **1", '<div class="code-block"><pre><code>let a = **1</code></pre></div>');
  check("```js\nlet a;\n``", '<div class="code-block"><pre><code>let a;</code></pre></div>');
});
