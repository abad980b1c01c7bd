// Markdown that is safe by construction: the lexer gives tokens, we make React elements of
// them. There is no HTML anywhere: raw HTML is text, links are http(s) and mailto only, and
// images become links, so that nothing is fetched.

import { memo, useRef, type ReactNode } from "react";
import type { Token, Tokens } from "marked";
import { lex, presentable, Splitter } from "./split";

interface Props {
  text: string;
  /** More is coming. */
  live?: boolean;
  /** The level of the heading above this text; headings inside are lower. */
  under?: number;
  /** In the serif of verdicts and conclusions. */
  serif?: boolean;
}

export function Markdown({ text, live = false, under = 2, serif = false }: Props) {
  const splitter = useRef<Splitter>(null);
  splitter.current ??= new Splitter();
  const { sealed, depths, tail } = splitter.current.feed(text);
  let outline = "";
  return (
    <div className={serif ? "markdown serif" : "markdown"}>
      {sealed.map((raw, index) => {
        const above = outline;
        outline = deeper(outline, depths[index] ?? 0);
        return <Block key={index} raw={raw} under={under} outline={above} />;
      })}
      {tail.trim() !== "" && (
        <Block
          key={sealed.length}
          raw={live ? presentable(tail) : tail}
          under={under}
          outline={outline}
        />
      )}
    </div>
  );
}

interface BlockProps {
  raw: string;
  under: number;
  /** The depths of the headings above, a digit each: `13` is a `###` under a `#`. */
  outline: string;
}

/** One element for each block, also where the end of a text has several: all have the same gaps. */
const Block = memo(function Block({ raw, under, outline }: BlockProps) {
  let above = outline;
  return lex(raw).map((token, index) => {
    if (token.type === "space" || token.type === "def") return null;
    above = deeper(above, token.type === "heading" ? (token as Tokens.Heading).depth : 0);
    return (
      <div className="block" key={index}>
        <One token={token} under={under} rank={above.length} />
      </div>
    );
  });
});

/**
 * The outline after a heading. Models leave out levels as they like; the page does not, since
 * readers that go from heading to heading count on it.
 */
function deeper(outline: string, depth: number): string {
  if (depth === 0) return outline;
  return `${[...outline].filter((above) => Number(above) < depth).join("")}${depth}`;
}

function all(tokens: Token[] | undefined, under: number): ReactNode {
  return tokens?.map((token, index) => <One key={index} token={token} under={under} rank={1} />);
}

function One({ token, under, rank }: { token: Token; under: number; rank: number }): ReactNode {
  const inside = () => all((token as Tokens.Generic).tokens, under);
  switch (token.type) {
    case "heading": {
      const level = Math.min(6, under + rank);
      const Heading = `h${level}` as "h3";
      return <Heading>{inside()}</Heading>;
    }
    case "paragraph":
      return <p>{inside()}</p>;
    case "text":
      return (token as Tokens.Text).tokens ? inside() : plain((token as Tokens.Text).text);
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{plain((token as Tokens.Codespan).text)}</code>;
    case "code":
      return (
        <pre tabIndex={0} role="group" aria-label="Code">
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} under={under} />;
    case "table":
      return <Table table={token as Tokens.Table} under={under} />;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{inside()}</Link>;
    case "image": {
      const image = token as Tokens.Image;
      return <Link href={image.href}>{`[image: ${plain(image.text) || "no description"}]`}</Link>;
    }
    case "escape":
      return plain((token as Tokens.Escape).text);
    case "checkbox":
      return (token as unknown as { checked: boolean }).checked ? "☑ " : "☐ ";
    case "space":
    case "def":
      return null;
    default:
      return token.raw;
  }
}

function List({ list, under }: { list: Tokens.List; under: number }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task && !item.tokens.some((token) => token.type === "checkbox")
        ? item.checked
          ? "☑ "
          : "☐ "
        : null}
      {all(item.tokens, under)}
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={Number(list.start) || 1}>{items}</ol>;
}

function Table({ table, under }: { table: Tokens.Table; under: number }) {
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col" data-align={cell.align ?? undefined}>
                {all(cell.tokens, under)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place} data-align={cell.align ?? undefined}>
                  {all(cell.tokens, under)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!isSafe(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  );
}

/** An address as a browser would read it, not as it is written. */
export function isSafe(href: string): boolean {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}

/** The lexer writes these five as entities; everything else it leaves as it was. */
function plain(text: string): string {
  return text
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&");
}
