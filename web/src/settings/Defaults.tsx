import { useBoards } from "../api/known";
import { useDefaults } from "../boardrooms/defaults";
import { BudgetFields, wrongAmount, type Allowance } from "../ui/Budget";
import { SelectField } from "../ui/Field";

/** What a new board begins with. */
export function Defaults() {
  const boards = useBoards().data ?? [];
  const [{ board, allowance }, change] = useDefaults();
  const isKnown = board === undefined || boards.some(({ name }) => name === board);
  return (
    <section className="card stack" aria-labelledby="settings-defaults">
      <h2 id="settings-defaults">Defaults for new boards</h2>
      <p className="muted">Only in this browser.</p>
      <SelectField
        label="Board"
        value={board ?? ""}
        onChange={(event) => change({ board: event.target.value })}
        none="The one used last"
        options={boards.map(({ name, title }) => [name, title])}
      >
        {!isKnown && <option value={board}>{board} (not available)</option>}
      </SelectField>
      <BudgetFields
        value={allowance}
        wrong={(field) => wrongAmount(allowance[field.slice("budget.".length) as keyof Allowance])}
        hint="Applies unless a board has its own budget. You can change it before you convene."
        onChange={(next) => change({ allowance: next })}
      />
    </section>
  );
}
