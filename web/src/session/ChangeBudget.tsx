import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { toast } from "../ui/announce";
import { allowanceOf, BudgetFields, budgetOf, budgetParts } from "../ui/Budget";
import { Confirm } from "../ui/Confirm";

interface Props {
  session: { id: string; kind: string };
  budget: Schemas["BudgetView"] | undefined;
  onClose: () => void;
}

/** What a session may spend from now on, also one that has spent what it had. */
export function ChangeBudget({ session, budget, onClose }: Props) {
  const [allowance, setAllowance] = useState(() => allowanceOf(budget));
  const { tokens, cost } = budget ? budgetParts(budget) : {};
  const spent = [tokens, cost].filter(Boolean).join(" · ");
  const queries = useQueryClient();
  const change = useWrite(
    (body: Schemas["NewBudget"], header) =>
      asked(
        client.POST("/api/sessions/{id}/budget", {
          params: { path: { id: session.id }, header },
          body,
        }),
      ),
    {
      onSent: () => {
        toast("Budget changed");
        onClose();
        void queries.invalidateQueries();
      },
    },
  );
  const problem = change.error instanceof Problem ? change.error : undefined;
  const next = budgetOf(allowance);
  return (
    <Confirm
      title={budget ? "Change the budget" : "Set a budget"}
      action="Save"
      doing="Saving…"
      isReady={next !== undefined}
      isBusy={change.isPending}
      error={change.error}
      onClose={onClose}
      onSure={() =>
        next && change.mutate({ ...next, ...(budget && { whenSpent: budget.whenSpent }) })
      }
    >
      <BudgetFields
        value={allowance}
        // Not every session has an end to which it could be held.
        hasTime={session.kind !== "council"}
        wrong={(field) => problem?.field(field)}
        hint="Covers the whole session, including what it has already spent."
        onChange={setAllowance}
      />
      {spent !== "" && <p className="muted small">Spent so far: {spent}</p>}
    </Confirm>
  );
}
