import "./home.css";
import { canAnswer, useBoardPresets, useBoards, useProviders } from "../api/known";
import { useGoingOn } from "../shell/sessions";
import { useTitle } from "../shell/Shell";
import { Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import { Ask } from "./Ask";
import { FirstRun } from "./FirstRun";
import { NoModel } from "./NoModel";
import { Sessions } from "./Sessions";

const RECENT_SHOWN = 6;

export default function Home() {
  useTitle("");
  const presets = useBoardPresets();
  const boards = useBoards();
  const providers = useProviders();
  const { waiting, running, recent, isKnown, error, retry } = useGoingOn();
  const isWithoutModel = providers.data !== undefined && !providers.data.some(canAnswer);
  const isFirstRun = isKnown && waiting.length + running.length + recent.length === 0;

  return (
    <div className="page home">
      <h1>{isWithoutModel ? "First, connect a model" : "What needs deciding?"}</h1>
      {isFirstRun && !isWithoutModel && (
        <p className="home-lead">
          Advisors answer side by side, each in a role. One verdict says where they agree, and where
          they do not.
        </p>
      )}
      {isWithoutModel ? (
        <NoModel providers={providers.data} onLook={() => void providers.refetch()} />
      ) : presets.data && boards.data ? (
        <Ask boards={boards.data} roles={presets.data.roles} samples={presets.data.prompts} />
      ) : presets.error || boards.error ? (
        <Wrong
          error={presets.error ?? boards.error}
          onRetry={() => void Promise.all([presets.refetch(), boards.refetch()])}
        />
      ) : (
        <Loading />
      )}
      {isFirstRun && !isWithoutModel && (
        <FirstRun providers={providers} sample={presets.data?.prompts[0]} />
      )}
      <Wrong error={isKnown ? null : error} onRetry={retry} />
      {isKnown && !isFirstRun && (
        <Sessions waiting={waiting} running={running} recent={recent.slice(0, RECENT_SHOWN)} />
      )}
    </div>
  );
}
