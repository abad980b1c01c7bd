import { Button } from "../ui/Button";
import { some } from "../ui/time";
import { shortModel } from "../ui/ModelSelect";
import { boardOf, modelAt, synthesizerOf, type SavedBoard, type Setup } from "./setup";

interface Props {
  setup: Setup;
  boards: readonly SavedBoard[];
  inTurn: readonly string[];
  isEditing: boolean;
  controls: string;
  onEdit: () => void;
}

/** The whole set-up in one line. */
export function SetupLine({ setup, boards, inTurn, isEditing, controls, onEdit }: Props) {
  return (
    <div className="setup-line">
      <ul className="chips" aria-label="This board">
        {inWords(setup, boards, inTurn).map((words) => (
          <li key={words} className="chip">
            {words}
          </li>
        ))}
      </ul>
      <Button
        look="quiet"
        icon={isEditing ? "up" : "edit"}
        aria-expanded={isEditing}
        aria-controls={controls}
        onClick={onEdit}
      >
        {isEditing ? "Collapse" : "Edit board"}
      </Button>
    </div>
  );
}

function inWords(setup: Setup, boards: readonly SavedBoard[], inTurn: readonly string[]): string[] {
  const { seats } = setup;
  const name = boardOf(setup, boards)?.title;
  const people = seats.filter((seat) => seat.kind === "person");
  const seated = seats.flatMap((seat, place) =>
    seat.kind === "model" && !seat.model.startsWith("tier:")
      ? [shortModel(modelAt(setup, place, inTurn))]
      : [],
  );
  const own = seats.filter((seat) => seat.systemPrompt.trim() !== "").length;
  const synthesizer = synthesizerOf(setup, inTurn);
  return [
    name ?? "Custom board",
    some(seats.length, "advisor"),
    ...(inTurn.length > 0 && seated.length > 0 ? [named([...new Set(seated)])] : []),
    ...(people.length > 0 ? [people.map((seat) => seat.person || "a person").join(", ")] : []),
    ...(own > 0 ? [some(own, "custom prompt")] : []),
    ...(synthesizer === "" ? [] : [`Verdict by ${shortModel(synthesizer)}`]),
    ...(setup.quorum === "" ? [] : [`At least ${setup.quorum} of ${seats.length} answers`]),
    ...(setup.ballot ? ["With votes"] : []),
  ];
}

const SHOWN = 3;

function named(models: string[]): string {
  const more = models.length - SHOWN;
  return models.slice(0, SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
