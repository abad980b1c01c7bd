import { Link } from "wouter";
import { useProviders } from "../api/known";
import { Notice } from "../ui/Notice";

/** Nobody could answer: why, and what to do about it. */
export function NoModels() {
  const providers = useProviders();
  const wrong = providers.data?.filter((provider) => provider.problem !== undefined) ?? [];
  return (
    <Notice
      look="warn"
      action={
        <Link href="/settings" className="button">
          Settings
        </Link>
      }
    >
      <p>
        <strong>No model is available yet, so no board can be convened.</strong>
      </p>
      {wrong.length === 0 && <p>Start Ollama, or add an API key in Settings.</p>}
      {wrong.map((provider) => (
        <p key={provider.name}>
          <strong>{provider.name}</strong>: {provider.problem} {provider.hint}
        </p>
      ))}
    </Notice>
  );
}
