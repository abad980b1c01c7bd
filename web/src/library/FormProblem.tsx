// Why a form was refused. Its fields say what is wrong with them; the first of those gets the
// focus, because it may be out of sight.

import { useEffect, useRef } from "react";
import { Problem } from "../api/client";
import { Wrong } from "../ui/Notice";

export function FormProblem({ error }: { error: unknown }) {
  const here = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!error) return;
    const form = here.current?.closest("dialog, form");
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [error]);
  return (
    <div ref={here}>
      <Wrong error={error instanceof Problem ? withoutFields(error) : error} />
    </div>
  );
}

function withoutFields({ status, code, message, hint }: Problem): Problem {
  return new Problem(status, code, message, hint);
}
