import { useProviders } from "../api/known";
import { Inline } from "../ui/Inline";
import { Notice } from "../ui/Notice";
import type { Board } from "./board";

/** What should be known of a model before its answers are relied on. */
export function ModelNote({ board }: { board: Board }) {
  // Only of those that run here is anything said, so that others cost no request.
  const isLocal = board.advisors.some(({ model }) => model?.startsWith("local/"));
  return isLocal && <Notes board={board} />;
}

function Notes({ board }: { board: Board }) {
  const providers = useProviders().data ?? [];
  const notes = providers.flatMap(({ name, models, note }) => {
    // A note on one of several models begins with its name.
    const model = models.find((one) => note?.startsWith(one));
    const isHere = board.advisors.some((advisor) => advisor.model === `${name}/${model}`);
    return note !== undefined && isHere ? [note] : [];
  });
  if (notes.length === 0) return null;
  return (
    <div className="board-notice">
      {notes.map((note) => (
        <Notice key={note}>
          <Inline text={note} />
        </Notice>
      ))}
    </div>
  );
}
