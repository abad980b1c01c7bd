import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { Found } from "./Found";
import type { Provider } from "../api/known";

/** Nothing can be asked: what to do about it, in place of a form that leads nowhere. */
export function NoModel({
  providers,
  onLook,
}: {
  providers: readonly Provider[];
  onLook: () => void;
}) {
  return (
    <section className="stack" aria-label="What to do">
      <Notice look="warn" action={<Button onClick={onLook}>Refresh</Button>}>
        <p>No model is available yet. Any one of these will do; this page updates on its own.</p>
      </Notice>
      <div className="card stack">
        <h2>Where we looked</h2>
        <Found providers={providers} />
        <p className="muted small">
          Or set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY for the
          server and restart it. <code>plenary doctor</code> checks everything.
        </p>
      </div>
    </section>
  );
}
