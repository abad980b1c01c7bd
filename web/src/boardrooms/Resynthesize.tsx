import { useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { finished, shortModel, type Board } from "./board";
import { useCommand } from "./commands";
import { ModelSelect } from "./ModelSelect";

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
    <Dialog
      title="Re-synthesize"
      onClose={onClose}
      onSubmit={ask}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={command.isPending}>
            Re-synthesize
          </Button>
        </>
      }
    >
      <div className="stack">
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
        <Wrong error={command.error} />
      </div>
    </Dialog>
  );
}
