import { Button } from "../ui/Button";
import { some } from "../ui/time";
import { presetName, shortModel, type Presets } from "./board";
import { modelAt, synthesizerOf, type Setup } from "./setup";

interface Props {
  setup: Setup;
  presets: Presets;
  models: readonly string[];
  isEditing: boolean;
  controls: string;
  onEdit: () => void;
}

/** The whole set-up in one line. */
export function SetupLine({ setup, presets, models, isEditing, controls, onEdit }: Props) {
  return (
    <div className="setup-line">
      <ul className="chips" aria-label="This board">
        {inWords(setup, presets, models).map((words) => (
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

function inWords(setup: Setup, presets: Presets, models: readonly string[]): string[] {
  const { seats } = setup;
  const name = presetName(
    seats.map((seat) => seat.role),
    presets,
  );
  const people = seats.filter((seat) => seat.kind === "person");
  const seated = seats.flatMap((seat, place) =>
    seat.kind === "model" ? [shortModel(modelAt(setup, place, models))] : [],
  );
  const own = seats.filter((seat) => seat.systemPrompt.trim() !== "").length;
  const synthesizer = synthesizerOf(setup, models);
  return [
    name ?? "Custom board",
    some(seats.length, "advisor"),
    ...(models.length > 0 && seated.length > 0 ? [named([...new Set(seated)])] : []),
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
