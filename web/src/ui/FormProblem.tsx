// Why a form was refused. Its fields say what is wrong with them; the first of those gets the
// focus, because it may be out of sight. What no field says is said here.

import { useLayoutEffect, useRef, useState } from "react";
import { Wrong } from "./Notice";

export function FormProblem({ error }: { error: unknown }) {
  const here = useRef<HTMLDivElement>(null);
  const [isAtField, setAtField] = useState(false);
  useLayoutEffect(() => {
    const form = error ? here.current?.closest("dialog, form") : undefined;
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    setAtField(field !== null && field !== undefined);
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [error]);
  return <div ref={here}>{!isAtField && <Wrong error={error} />}</div>;
}
