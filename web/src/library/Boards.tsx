import { Link } from "wouter";
import { useBoardPresets } from "../api/known";
import { Markdown } from "../markdown/Markdown";
import { Loading } from "../ui/Empty";
import { Glyph } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";

/** The boards that can be convened, and what each role is there for. */
export function Boards() {
  const presets = useBoardPresets();
  if (!presets.data) {
    if (presets.error)
      return <Wrong error={presets.error} onRetry={() => void presets.refetch()} />;
    return <Loading what="Loading boards" />;
  }
  const { boards, roles } = presets.data;
  return (
    <>
      <p className="muted">
        Advisors on a board answer the same question at the same time, each from their own angle.
      </p>
      <ul className="library-cards boards" aria-label="Boards">
        {boards.map((board) => (
          <li key={board.id} className="card library-card">
            <div className="library-card-head">
              <h2>{board.name}</h2>
              <span className="muted small">{some(board.roles.length, "advisor")}</span>
            </div>
            <ul className="library-roles">
              {board.roles.map((id) => {
                const role = roles.find((one) => one.id === id);
                return (
                  <li key={id}>
                    <Glyph role={id} small />
                    <span>
                      <strong>{role?.name ?? id}</strong>{" "}
                      <span className="muted">{role?.perspective}</span>
                    </span>
                  </li>
                );
              })}
            </ul>
            <Link className="button" href={`/boardrooms?board=${encodeURIComponent(board.id)}`}>
              Convene<span className="unseen"> {board.name}</span>
            </Link>
          </li>
        ))}
      </ul>
      <section className="stack" aria-label="Roles">
        <h2>What each role is told</h2>
        <div className="card library-prompts">
          {roles.map((role) => (
            <details key={role.id}>
              <summary>
                <Glyph role={role.id} small />
                <strong>{role.name}</strong>
                <span className="muted">{role.perspective}</span>
              </summary>
              <Markdown text={role.systemPrompt} under={2} />
            </details>
          ))}
        </div>
      </section>
    </>
  );
}
