// A decision record as the server writes it: facts between dashes, then Markdown.

export interface RecordParts {
  facts: { name: string; value: string }[];
  /** Without the facts and without the title, which the page has already. */
  text: string;
}

const NAMES: Record<string, string> = {
  status: "Status",
  date: "Date",
  "decision-makers": "Participants",
};

export function recordParts(record: string): RecordParts {
  const found = /^---\n([\s\S]*?)\n---\n/.exec(record);
  const text = (found ? record.slice(found[0].length) : record).replace(/^\s*# [^\n]*\n/, "");
  const facts = (found?.[1] ?? "").split("\n").flatMap((line) => {
    const colon = line.indexOf(": ");
    if (colon < 0) return [];
    const name = line.slice(0, colon);
    return [{ name: NAMES[name] ?? name, value: plain(line.slice(colon + 2)) }];
  });
  return { facts, text: text.trim() };
}

/** A list or a quoted text in words. */
function plain(value: string): string {
  if (!/^[["]/.test(value)) return value;
  try {
    const read: unknown = JSON.parse(value);
    return Array.isArray(read) ? read.join(", ") : String(read);
  } catch {
    return value;
  }
}
