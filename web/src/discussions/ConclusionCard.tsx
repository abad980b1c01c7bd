import { Markdown } from "../markdown/Markdown";
import { fileName } from "../session/kinds";
import { Button } from "../ui/Button";
import { copy } from "../ui/announce";
import { Icon } from "../ui/icons";
import { save } from "../ui/save";
import type { View } from "./words";

export const CONCLUSION_ID = "conclusion";

/** What came of it. */
export function ConclusionCard({ view }: { view: View }) {
  const { conclusion, degraded } = view;
  if (conclusion === undefined) return null;
  return (
    <section
      id={CONCLUSION_ID}
      className="conclusion"
      tabIndex={-1}
      aria-labelledby="conclusion-heading"
    >
      <div className="conclusion-head">
        <h2 id="conclusion-heading">Conclusion</h2>
        <span className="muted small by">by {view.moderator.name}</span>
        <span className="spread" />
        <Button className="no-print" icon="copy" onClick={() => void copy(conclusion)}>
          Copy
        </Button>
        <Button className="no-print" icon="download" onClick={() => download(view)}>
          Download
        </Button>
      </div>
      {degraded !== undefined && (
        <p className="degraded">
          <Icon name="warning" /> {degraded}
        </p>
      )}
      <Markdown text={conclusion} under={2} serif />
    </section>
  );
}

/** The conclusion alone, as Markdown; the whole record is in the export. */
function download(view: View): void {
  const note = view.degraded === undefined ? "" : `*${view.degraded}*\n\n`;
  const text = `# ${view.name}\n\n${note}${view.conclusion ?? ""}\n`;
  save(`${fileName(view.name, "conclusion")}.md`, text);
}
