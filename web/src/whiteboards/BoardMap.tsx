// The map of a board: where it stands, who voted how, who agrees with whom.

import { useState } from "react";
import { Tabs } from "../ui/Tabs";
import { useBoardPage } from "./board";
import { SummaryView } from "./SummaryView";
import { AgreementTable, VotesTable } from "./VotesMap";

type Part = "summary" | "votes" | "agreement";

const PARTS: readonly { name: Part; title: string }[] = [
  { name: "summary", title: "Summary" },
  { name: "votes", title: "Votes" },
  { name: "agreement", title: "Agreement" },
];

export function BoardMap() {
  const { view } = useBoardPage();
  const [part, setPart] = useState<Part>(view.phase === "debate" ? "votes" : "summary");
  return (
    <section className="card side-card" aria-label="Map" id="map">
      <h2 className="unseen">Map</h2>
      <Tabs label="Map" tabs={PARTS} chosen={part} onChoose={setPart}>
        {part === "summary" && <SummaryView />}
        {part === "votes" && <VotesTable />}
        {part === "agreement" && <AgreementTable />}
      </Tabs>
    </section>
  );
}
