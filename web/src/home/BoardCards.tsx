import { Glyph } from "../ui/icons";
import type { Schemas } from "../api/client";
import { purposeOf, type Board } from "./boards";

interface Props {
  boards: readonly Board[];
  roles: readonly Schemas["RoleView"][];
  chosen: string;
  onChoose: (board: string) => void;
}

/** The preset boards, of which one is chosen. */
export function BoardCards({ boards, roles, chosen, onChoose }: Props) {
  const names = new Map(roles.map((role) => [role.id, role.name]));
  return (
    <fieldset className="board-cards">
      <legend className="unseen">Board</legend>
      {boards.map((board) => (
        <label key={board.id} className="board-card">
          <input
            type="radio"
            name="board"
            value={board.id}
            checked={board.id === chosen}
            onChange={() => onChoose(board.id)}
          />
          <span className="board-name">{board.name}</span>
          <span className="board-purpose">{purposeOf(board)}</span>
          <span className="board-roles">
            {board.roles.map((role) => (
              <Glyph key={role} role={role} small label={names.get(role) ?? role} />
            ))}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
