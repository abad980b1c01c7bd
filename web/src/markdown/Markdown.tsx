// Markdown that is safe by construction: the lexer gives tokens, we make React elements of
// them. There is no HTML anywhere: raw HTML is text, links are http(s) and mailto only, and
// images become links, so that nothing is fetched.

import { memo, useMemo, useRef, type ReactNode } from "react";
import type { Token, Tokens, TokensList } from "marked";
import { copy } from "../ui/announce";
import { IconButton } from "../ui/Button";
import { highlighted } from "../ui/highlight";
import { named } from "./entities";
import { Formula } from "./Formula";
import { presentable } from "./presentable";
import { evened, lex, lexLine, Splitter, type MathToken } from "./split";

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
  const { tokens, sealed } = useTokens(text, live);
  let outline = "";
  return (
    <div className={serif ? "markdown serif" : "markdown"}>
      {tokens.map((token, index) => {
        if (token.type === "heading") outline = deeper(outline, (token as Tokens.Heading).depth);
        return (
          <Block
            key={index}
            token={token}
            under={under}
            rank={outline.length}
            isGrowing={index >= sealed}
          />
        );
      })}
    </div>
  );
}

/** One line of it, where there is no room for more: emphasis, code and links. */
export function MarkdownLine({ text }: { text: string }): ReactNode {
  const tokens = useMemo(() => lexLine(text), [text]);
  return all(tokens, { under: 6, rank: 1, depth: 0, isInLink: false, isGrowing: false });
}

/**
 * The outline after a heading: the depths of the headings above, a digit each. Models leave
 * out levels as they like; the page does not, since readers that go from heading to heading
 * count on it.
 */
function deeper(outline: string, depth: number): string {
  return `${[...outline].filter((above) => Number(above) < depth).join("")}${depth}`;
}

/**
 * While a text grows, what is sealed is not parsed again. When it is whole it is parsed once
 * more in one go, so that what is shown in the end depends on the text alone: a definition
 * at its end reaches the links at its beginning.
 */
function useTokens(text: string, live: boolean): { tokens: Token[]; sealed: number } {
  const splitter = useRef<Splitter>(null);
  const whole = useMemo(
    () => (live ? undefined : kept(lex(evened(text)), splitter.current?.sealed ?? [])),
    [text, live],
  );
  if (whole) return { tokens: whole, sealed: whole.length };
  splitter.current ??= new Splitter();
  const { sealed, tail } = splitter.current.feed(text);
  return { tokens: [...sealed, ...lex(presentable(tail))], sealed: sealed.length };
}

/** Blocks that came out as they were sealed keep their tokens, and are not drawn again. */
function kept(whole: Token[], sealed: readonly Token[]): Token[] {
  // A definition reaches links in any block, also in one whose words are the same.
  if (Object.keys((whole as Partial<TokensList>).links ?? {}).length > 0) return whole;
  return whole.map((token, index) => {
    const before = sealed[index];
    return before?.type === token.type && before.raw === token.raw ? before : token;
  });
}

interface BlockProps {
  token: Token;
  under: number;
  /** Of a heading: how many it stands under, itself included. */
  rank: number;
  /** It is drawn again with the next words. */
  isGrowing: boolean;
}

/** A sealed block keeps its token, and is not drawn again. */
const Block = memo(function Block({ token, under, rank, isGrowing }: BlockProps) {
  if (token.type === "space" || token.type === "def") return null;
  return (
    <div className="block">
      <One token={token} place={{ under, rank, depth: 0, isInLink: false, isGrowing }} />
    </div>
  );
});

interface Place {
  under: number;
  rank: number;
  depth: number;
  isInLink: boolean;
  isGrowing: boolean;
}

/** Deeper than anybody writes; what is below is shown as it was written. */
const DEEPEST = 24;

function all(tokens: Token[] | undefined, place: Place): ReactNode {
  // A heading inside a quotation or a list is the first of its own outline.
  const inside = { ...place, rank: 1, depth: place.depth + 1 };
  if (inside.depth > DEEPEST) return tokens?.map((token) => token.raw).join("");
  return tokens?.map((token, index) => <One key={index} token={token} place={inside} />);
}

function One({ token, place }: { token: Token; place: Place }): ReactNode {
  const inside = () => all((token as Tokens.Generic).tokens, place);
  switch (token.type) {
    case "heading": {
      const level = Math.min(6, place.under + place.rank);
      const Heading = `h${level}` as "h3";
      return <Heading>{inside()}</Heading>;
    }
    case "paragraph":
      return <p>{inside()}</p>;
    case "text":
      return (token as Tokens.Text).tokens ? inside() : named((token as Tokens.Text).text);
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "code":
      return <CodeBlock code={token as Tokens.Code} isGrowing={place.isGrowing} />;
    case "math":
      return <Formula of={(token as MathToken).formula} />;
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} place={place} />;
    case "table":
      return <Table table={token as Tokens.Table} place={place} />;
    case "link":
      return (
        <Link href={(token as Tokens.Link).href} isInLink={place.isInLink}>
          {all((token as Tokens.Link).tokens, { ...place, isInLink: true })}
        </Link>
      );
    case "image": {
      const image = token as Tokens.Image;
      return (
        <Link href={image.href} isInLink={place.isInLink}>
          {`[image: ${named(image.text) || "no description"}]`}
        </Link>
      );
    }
    case "escape":
      return (token as Tokens.Escape).text;
    // The item that it belongs to shows it.
    case "checkbox":
    case "space":
    case "def":
      return null;
    default:
      return token.raw;
  }
}

/** Its colours come when it is whole. */
function CodeBlock({ code, isGrowing }: { code: Tokens.Code; isGrowing: boolean }) {
  const { text, lang = "" } = code;
  return (
    <div className="code-block">
      <pre tabIndex={0} role="group" aria-label="Code">
        <code>{isGrowing ? text : highlighted(text, lang)}</code>
      </pre>
      {!isGrowing && (
        <IconButton
          icon="copy"
          label="Copy code"
          className="no-print"
          onClick={() => void copy(text)}
        />
      )}
    </div>
  );
}

function List({ list, place }: { list: Tokens.List; place: Place }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {all(item.tokens, place)}
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={Number(list.start) || 1}>{items}</ol>;
}

function Table({ table, place }: { table: Tokens.Table; place: Place }) {
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col" data-align={cell.align ?? undefined}>
                {all(cell.tokens, place)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} data-align={cell.align ?? undefined}>
                  {all(cell.tokens, place)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LinkProps {
  href: string;
  isInLink: boolean;
  children: ReactNode;
}

function Link({ href, isInLink, children }: LinkProps) {
  // A link inside a link leads nowhere that anybody could tell.
  if (isInLink || !isSafe(href)) return <>{children}</>;
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
