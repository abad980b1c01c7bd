import { useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Wrong } from "../ui/Notice";
import { shortModel, type Advisor } from "./board";
import { useCommand } from "./commands";
import { ModelSelect } from "./ModelSelect";

interface Props {
  board: string;
  advisor: Advisor;
  onClose: () => void;
}

/** Asks one advisor again, by another model. */
export function AnotherModel({ board, advisor, onClose }: Props) {
  const [model, setModel] = useState("");
  const command = useCommand(board);
  const ask = () =>
    command.mutate(
      { do: "retry", advisor: advisor.id, ...(model !== "" && { model }) },
      { onSuccess: onClose },
    );
  return (
    <Dialog
      title={`Ask another model as ${advisor.name}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={command.isPending || model === ""} onClick={ask}>
            Ask
          </Button>
        </>
      }
    >
      <div className="stack">
        <ModelSelect
          label="Model"
          value={model}
          none="Choose a model"
          hint={`So far: ${shortModel(advisor.model ?? "")}. A new verdict follows.`}
          onChoose={setModel}
        />
        <Wrong error={command.error} />
      </div>
    </Dialog>
  );
}
