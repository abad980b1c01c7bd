import "./home.css";
import { useSessions, waitsFor } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { Ask } from "./Ask";
import { usePresets } from "./boards";
import { FirstRun } from "./FirstRun";
import { NoModel } from "./NoModel";
import { canAnswer, useProviders } from "./providers";
import { Sessions } from "./Sessions";

const RUNNING_SHOWN = 8;
const LOOKED_THROUGH = 30;
const RECENT_SHOWN = 6;

export default function Home() {
  useTitle("");
  const presets = usePresets();
  const providers = useProviders();
  const running = useSessions({ active: true, limit: RUNNING_SHOWN });
  const others = useSessions({ active: false, limit: LOOKED_THROUGH });
  const isWithoutModel = providers.data !== undefined && !providers.data.some(canAnswer);
  const isFirstRun = running.data?.length === 0 && others.data?.length === 0;
  const waiting = others.data?.filter((session) => waitsFor(session).length > 0) ?? [];
  const recent = others.data?.filter((session) => waitsFor(session).length === 0) ?? [];

  return (
    <div className="page home">
      <h1>{isWithoutModel ? "First, a model to ask" : "What needs deciding?"}</h1>
      {isFirstRun && !isWithoutModel && (
        <p className="home-lead">
          Advisors answer side by side, each in a role. One verdict says where they agree, and where
          they do not.
        </p>
      )}
      {isWithoutModel ? (
        <NoModel providers={providers.data} onLook={() => void providers.refetch()} />
      ) : presets.data ? (
        <Ask
          boards={presets.data.boards}
          roles={presets.data.roles}
          samples={presets.data.prompts}
        />
      ) : presets.error ? (
        <Wrong error={presets.error} onRetry={() => void presets.refetch()} />
      ) : (
        <Loading />
      )}
      {isFirstRun && !isWithoutModel && (
        <FirstRun providers={providers} sample={presets.data?.prompts[0]} />
      )}
      <Wrong error={others.data ? null : others.error} onRetry={() => void others.refetch()} />
      {!isFirstRun && (
        <Sessions
          waiting={waiting}
          running={running.data ?? []}
          recent={recent.slice(0, RECENT_SHOWN)}
          isLoading={others.data === undefined}
        />
      )}
    </div>
  );
}
