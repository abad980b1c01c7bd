import { useState } from "react";
import { Confirm } from "../ui/Confirm";
import { TextArea } from "../ui/Field";
import { ModelSelect, shortModel } from "../ui/ModelSelect";
import { finished, type Board } from "./board";
import { useCommand } from "./commands";

/** Another verdict from the same answers. */
export function Resynthesize({ board, onClose }: { board: Board; onClose: () => void }) {
  const [model, setModel] = useState("");
  const [instruction, setInstruction] = useState("");
  const command = useCommand(board.id);
  const name = board.allowed.includes("resynthesize") ? "resynthesize" : "synthesize";
  const ask = () =>
    command.mutate(
      {
        do: name,
        ...(model !== "" && { model }),
        ...(instruction.trim() !== "" && { instruction: instruction.trim() }),
      },
      { onSuccess: onClose },
    );
  return (
    <Confirm
      title="Re-synthesize"
      action="Re-synthesize"
      isBusy={command.isPending}
      error={command.error}
      onClose={onClose}
      onSure={ask}
    >
      <p className="muted">
        Uses the {finished(board).length} answers so far; no advisor is asked again. Earlier
        verdicts are kept.
      </p>
      <TextArea
        label="Instruction"
        placeholder="For a board of directors. In French. In three sentences."
        rows={2}
        value={instruction}
        onChange={(event) => setInstruction(event.target.value)}
      />
      <ModelSelect
        label="Model"
        value={model}
        none={`As before: ${shortModel(board.synthesizers[0] ?? "")}`}
        onChoose={setModel}
      />
    </Confirm>
  );
}
