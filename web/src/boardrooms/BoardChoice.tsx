import { Glyph } from "../ui/icons";
import { presetName, type Presets, type RoleName } from "./board";
import { isPlain, type Setup } from "./setup";

interface Props {
  presets: Presets;
  setup: Setup;
  onChoose: (roles: readonly RoleName[]) => void;
}

/** The boards that are there from the start. */
export function BoardChoice({ presets, setup, onChoose }: Props) {
  const roles = setup.seats.map((seat) => seat.role);
  const chosen = setup.seats.every(isPlain) ? presetName(roles, presets) : undefined;
  return (
    <div className="boards" role="group" aria-label="Preset boards">
      {presets.boards.map((board) => (
        <button
          key={board.id}
          type="button"
          className="board-choice"
          aria-pressed={board.name === chosen}
          onClick={() => onChoose(board.roles)}
        >
          <span className="board-name">{board.name}</span>
          <span className="glyphs" aria-hidden="true">
            {board.roles.map((role) => (
              <Glyph key={role} role={role} small />
            ))}
          </span>
          <span className="muted small board-roles">
            {board.roles.map((role) => nameOf(role, presets)).join(", ")}
          </span>
        </button>
      ))}
    </div>
  );
}

function nameOf(role: RoleName, presets: Presets): string {
  return presets.roles.find((one) => one.id === role)?.name ?? role;
}
