// What has come about between two looks at a board, for those who hear the page rather than
// see it. One sentence per milestone, never per word that a model writes.

import { askedNow, failureInWords, finished, isPending, type Board } from "./board";

export function milestones(before: Board, now: Board): string[] {
  const said: string[] = [];
  const all = askedNow(now).length;
  let count = finished(before).length;
  for (const advisor of now.advisors) {
    const earlier = before.advisors.find((one) => one.id === advisor.id);
    if (!earlier || !isPending(earlier) || isPending(advisor)) continue;
    if (advisor.status === "done") {
      count += 1;
      said.push(`${advisor.name} finished, ${count} of ${all}`);
    } else if (advisor.status === "failed") {
      said.push(`${advisor.name} failed. ${advisor.error ? failureInWords(advisor.error) : ""}`);
    } else if (now.status !== "stopped") {
      said.push(`${advisor.name} was stopped`);
    }
  }
  const earlierSynthesis = before.syntheses.at(-1);
  const synthesis = now.syntheses.at(-1);
  const isNew =
    synthesis &&
    (synthesis.number !== earlierSynthesis?.number || synthesis.status !== earlierSynthesis.status);
  if (isNew && synthesis.status === "done") said.push("Verdict ready");
  if (isNew && synthesis.status === "failed") said.push("The verdict could not be written");
  if (before.status !== now.status) {
    if (now.status === "synthesizing") said.push("The verdict is being written");
    if (now.status === "balloting") said.push("The advisors are voting");
    if (now.status === "closed" && before.status === "balloting") said.push("The votes are in");
    if (now.status === "stopped") said.push("Stopped");
    if (now.status === "failed") said.push(`Failed. ${now.failure ?? ""}`);
  }
  return said.map((sentence) => sentence.trim());
}
