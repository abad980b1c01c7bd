import { useState } from "react";
import { Confirm } from "../ui/Confirm";
import { ModelSelect, shortModel } from "../ui/ModelSelect";
import { isPending, type Advisor } from "./board";
import { useCommand } from "./commands";

interface Props {
  board: string;
  advisor: Advisor;
  onClose: () => void;
}

/** Asks one advisor again, by another model. */
export function AnotherModel({ board, advisor, onClose }: Props) {
  const [model, setModel] = useState("");
  const command = useCommand(board);
  // One that is being asked is not asked again by the same model.
  const isOther = model !== "" && !(isPending(advisor) && model === advisor.model);
  const ask = () =>
    command.mutate(
      { do: "retry", advisor: advisor.id, ...(model !== "" && { model }) },
      { onSuccess: onClose },
    );
  return (
    <Confirm
      title={`Ask another model as ${advisor.name}`}
      action="Ask"
      isReady={isOther}
      isBusy={command.isPending}
      error={command.error}
      onClose={onClose}
      onSure={ask}
    >
      <ModelSelect
        label="Model"
        value={model}
        none="Choose a model"
        hint={`Currently ${shortModel(advisor.model ?? "")}. A new verdict follows.`}
        onChoose={setModel}
      />
    </Confirm>
  );
}
