import { Icon } from "../ui/icons";
import { some } from "../ui/time";
import type { Following } from "./following";
import type { View } from "./words";

/** The way to the end for whoever reads further up. */
export function LatestChip({ view, following }: { view: View; following: Following }) {
  const { isAtEnd, missed, toEnd } = following;
  const waits = view.step?.waitsForPerson === true;
  const runs = view.status === "active" || view.status === "pausing";
  // When it is over, what counts stands at the top.
  if (isAtEnd || view.status === "concluded" || (!runs && missed === 0)) return null;
  return (
    <button type="button" className="latest-chip" onClick={toEnd}>
      {waits
        ? `It is ${view.step?.name}’s turn`
        : missed > 0
          ? some(missed, "new turn")
          : "Jump to latest"}
      <Icon name="down" />
    </button>
  );
}
