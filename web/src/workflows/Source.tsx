// The file, in a plain text area of its own size, with numbers at its left and the server's
// findings at its right. Colours stand behind the text; what is typed is the browser's own.

import { useMemo, useRef, type CSSProperties, type RefObject } from "react";
import { Button } from "../ui/Button";
import { yamlLine } from "../ui/highlight";
import { Icon } from "../ui/icons";
import { Inline } from "../ui/Inline";
import type { Finding } from "./data";

interface Props {
  area: RefObject<HTMLTextAreaElement | null>;
  source: string;
  findings: readonly Finding[];
  /** The lines of the step in which the cursor is. */
  lines: readonly [number, number] | undefined;
  line: number;
  onChange: (source: string) => void;
  onCursor: (at: number) => void;
  /** Nothing while the file has been changed since it was checked. */
  onFix: ((finding: Finding, by: string) => void) | undefined;
  onGo: (finding: Finding) => void;
}

const LINE_PX = 19;
const TOP_PX = 10;
const NOTE_GAP_PX = 8;
const NOTE_CHARS = 34;

export function Source(props: Props) {
  const { area, source, findings, lines, line, onChange, onCursor } = props;
  const rows = useMemo(() => source.split("\n"), [source]);
  const longest = useMemo(() => Math.max(40, ...rows.map((row) => row.length)), [rows]);
  const byLine = new Map(findings.map((finding) => [finding.line, finding.severity]));
  const numbers = useRef<HTMLOListElement>(null);
  return (
    <div className="source">
      <div className="source-scroll">
        <ol className="source-numbers" ref={numbers} aria-hidden="true">
          {rows.map((_, at) => (
            <li
              key={at}
              className={lines && at + 1 >= lines[0] && at + 1 <= lines[1] ? "in" : undefined}
              data-severity={byLine.get(at + 1)}
            >
              {at + 1}
            </li>
          ))}
        </ol>
        <div
          className="source-text"
          style={{ "--lines": rows.length, "--chars": longest } as CSSProperties}
        >
          <Colours rows={rows} byLine={byLine} current={line} />
          <textarea
            ref={area}
            aria-label="Workflow file"
            aria-invalid={findings.some(({ severity }) => severity === "error") || undefined}
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            value={source}
            onChange={(event) => onChange(event.target.value)}
            onSelect={(event) => onCursor(event.currentTarget.selectionStart)}
          />
        </div>
        <div className="source-margin" role="list" aria-label="Findings">
          {placed(findings).map(({ finding, top }) => (
            <Note
              key={`${finding.line} ${finding.message}`}
              top={top}
              finding={finding}
              {...props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface ColoursProps {
  rows: readonly string[];
  byLine: ReadonlyMap<number, Finding["severity"]>;
  current: number;
}

function Colours({ rows, byLine, current }: ColoursProps) {
  return (
    <pre aria-hidden="true">
      {rows.map((row, at) => (
        <div
          key={at}
          data-severity={byLine.get(at + 1)}
          className={at + 1 === current ? "current" : undefined}
        >
          {row === "" ? "\u200b" : yamlLine(row)}
        </div>
      ))}
    </pre>
  );
}

/** Each beside its line, or beneath the one before where that is in the way. */
function placed(findings: readonly Finding[]): { finding: Finding; top: number }[] {
  let free = 0;
  return [...findings]
    .sort((a, b) => a.line - b.line)
    .map((finding) => {
      const top = Math.max(free, TOP_PX + (finding.line - 1) * LINE_PX - 6);
      const rows = Math.ceil(finding.message.length / NOTE_CHARS) + 1;
      free = top + rows * 17 + ((finding.near?.length ?? 0) > 0 ? 36 : 0) + 18 + NOTE_GAP_PX;
      return { finding, top };
    });
}

interface NoteProps extends Pick<Props, "onFix" | "onGo"> {
  finding: Finding;
  top: number;
}

function Note({ finding, top, onFix, onGo }: NoteProps) {
  const { severity, line, column, message, near = [] } = finding;
  return (
    <div role="listitem" className="source-note" data-severity={severity} style={{ top }}>
      <button type="button" className="link-button" onClick={() => onGo(finding)}>
        <Icon name="warning" size={12} />
        <span>{severity === "error" ? "Error" : "Warning"}</span>
        <span className="mono spread">
          {line}:{column}
        </span>
      </button>
      <p>
        <Inline text={message} />
      </p>
      {near.slice(0, 2).map((name) => (
        <Button key={name} disabled={!onFix} onClick={() => onFix?.(finding, name)}>
          Replace with {name}
        </Button>
      ))}
    </div>
  );
}
