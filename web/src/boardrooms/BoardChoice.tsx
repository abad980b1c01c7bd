import { Glyph } from "../ui/icons";
import { boardOf, type SavedBoard, type Setup } from "./setup";

interface Props {
  boards: readonly SavedBoard[];
  setup: Setup;
  onChoose: (board: SavedBoard) => void;
}

/** The boards that are there from the start, and those that somebody saved. */
export function BoardChoice({ boards, setup, onChoose }: Props) {
  const chosen = boardOf(setup, boards);
  return (
    <div className="boards" role="group" aria-label="Boards">
      {boards.map((board) => (
        <button
          key={board.name}
          type="button"
          className="board-choice"
          aria-pressed={board === chosen}
          onClick={() => onChoose(board)}
        >
          <span className="board-name">{board.title}</span>
          <SeatGlyphs board={board} />
          <span className="muted small board-roles">{board.description}</span>
        </button>
      ))}
    </div>
  );
}

/** Who sits on it, as drawings. */
export function SeatGlyphs({ board }: { board: SavedBoard }) {
  return (
    <span className="glyphs" aria-hidden="true">
      {board.seats.map(({ role, ownRole }, place) => (
        <Glyph key={place} role={role} own={ownRole} small />
      ))}
    </span>
  );
}
