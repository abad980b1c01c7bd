import { Glyph } from "../ui/icons";
import type { Schemas } from "../api/client";
import { purposeOf, type Board } from "./boards";

interface Props {
  boards: readonly Board[];
  roles: readonly Schemas["RoleView"][];
  chosen: string;
  onChoose: (board: string) => void;
}

/** The boards, of which one is chosen. */
export function BoardCards({ boards, roles, chosen, onChoose }: Props) {
  const names = new Map(roles.map((role) => [role.id, role.name]));
  return (
    <fieldset className="board-cards">
      <legend className="unseen">Board</legend>
      {boards.map((board) => (
        <label key={board.name} className="board-card">
          <input
            type="radio"
            name="board"
            value={board.name}
            checked={board.name === chosen}
            onChange={() => onChoose(board.name)}
          />
          <span className="board-name">{board.title}</span>
          <span className="board-purpose">{purposeOf(board)}</span>
          <span className="board-roles">
            {board.seats.map(({ role, ownRole }, place) => (
              <Glyph
                key={place}
                role={role}
                own={ownRole}
                small
                label={ownRole?.name ?? names.get(role) ?? role}
              />
            ))}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
