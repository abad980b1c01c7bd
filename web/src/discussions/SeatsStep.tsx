import { ModelSelect } from "../ui/ModelSelect";
import { FacilitatorPicker } from "./FacilitatorPicker";
import { Participants } from "./Participants";
import type { StepProps } from "./TopicStep";

export function SeatsStep({ draft, wrongs, onChange }: StepProps) {
  return (
    <>
      <FacilitatorPicker
        leader={draft.leader}
        format={draft.format}
        wrongs={wrongs}
        onChange={(leader) => onChange({ leader })}
      />
      <Participants
        seats={draft.seats}
        leader={draft.leader}
        wrongs={wrongs}
        onChange={(seats) => onChange({ seats })}
      />
      <ModelSelect
        label="One model for everyone (optional)"
        value={draft.choice}
        none="Each their own"
        prefix="model:"
        hint="For everyone who has no model or tier of their own."
        wrong={wrongs.get("model")}
        onChoose={(choice) => onChange({ choice })}
      />
    </>
  );
}
