import { Markdown } from "../markdown/Markdown";
import { Icon } from "../ui/icons";
import { spentInWords } from "../ui/Spent";
import { duration, useNow } from "../ui/time";
import { totals } from "../ui/Totals";
import { FORMATS, headline, type View } from "./words";

/** The topic, and whose discussion it is. */
export function Head({ view }: { view: View }) {
  const title = headline(view.topic, view.name);
  const files = view.context ?? [];
  return (
    <header className="discussion-head">
      <p className="eyebrow">
        {FORMATS[view.format]} · led by {view.moderator.name}
        {view.name !== title && title === view.topic.trim() && ` · ${view.name}`}
        {view.startedAt !== undefined && <Facts view={view} />}
      </p>
      <h1>{title}</h1>
      {title !== view.topic.trim() && (
        <details className="whole-topic">
          <summary>The whole topic</summary>
          <Markdown text={view.topic} under={1} />
        </details>
      )}
      {files.length > 0 && (
        <ul className="file-list" aria-label="Files">
          {files.map((file) => (
            <li key={file}>
              <Icon name="file" />
              {file}
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

/** How long models have worked, and what it took. */
function Facts({ view }: { view: View }) {
  const { actual, status, step } = view;
  const isRunning = (status === "active" || status === "pausing") && !step?.waitsForPerson;
  const now = useNow(isRunning);
  const sinceMs = isRunning ? Math.max(0, now - Date.parse(view.changedAt)) : 0;
  const worked = duration(actual.modelSeconds * 1_000 + sinceMs).replace(/\.\d/, "");
  const all = [worked, ...totals({ ...actual, usage: actual, budget: view.budget })];
  return (
    <span className="number" title={spentInWords(actual, actual)}>
      {` · ${all.join(" · ")}`}
    </span>
  );
}
