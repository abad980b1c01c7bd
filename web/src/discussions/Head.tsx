import { Markdown } from "../markdown/Markdown";
import { Icon } from "../ui/icons";
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
