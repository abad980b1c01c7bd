import type { UseQueryResult } from "@tanstack/react-query";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { Wrong } from "../ui/Notice";
import type { Sample } from "./boards";
import { useConvene } from "./convene";
import { Found } from "./Found";
import type { Provider } from "../api/known";

const BOARD = "classic-triad";

interface Props {
  providers: UseQueryResult<Provider[]>;
  sample: Sample | undefined;
}

/** Before there is any session: what was found, and one click to a board that writes. */
export function FirstRun({ providers, sample }: Props) {
  const { convene, isConvening, error } = useConvene();
  return (
    <div className="first-run">
      {sample && (
        <section className="card stack" aria-labelledby="first-try">
          <h2 id="first-try">See it in action</h2>
          <p>
            Three advisors answer a sample question: <q>{sample.name}</q>. Watch them write.
          </p>
          <Button
            look="primary"
            icon="play"
            disabled={isConvening}
            onClick={() => convene({ prompt: sample.text, board: BOARD })}
          >
            {isConvening ? "Convening…" : "Convene a sample board"}
          </Button>
          <Wrong error={error} />
        </section>
      )}
      <section className="card stack" aria-labelledby="first-found">
        <h2 id="first-found">Models found</h2>
        {providers.data ? (
          <Found providers={providers.data} />
        ) : providers.error ? (
          <Wrong error={providers.error} onRetry={() => void providers.refetch()} />
        ) : (
          <Loading what="Looking for models" />
        )}
      </section>
    </div>
  );
}
