// What most chat pages do, to compare with: react-markdown, which parses the whole text anew
// whenever it grows. It takes the place of src/markdown/Markdown.tsx in a build that is
// only measured, never shipped.

import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

interface Props {
  text: string;
  live?: boolean;
  under?: number;
  serif?: boolean;
}

const plugins = [remarkGfm];

export function Markdown({ text, serif = false }: Props) {
  return (
    <div className={serif ? "markdown serif" : "markdown"}>
      <ReactMarkdown remarkPlugins={plugins}>{text}</ReactMarkdown>
    </div>
  );
}

// All else is as it is shipped.
export * from "../src/markdown/Markdown";
