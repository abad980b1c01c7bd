import { useQuery } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import { EstimateFigures } from "./EstimateCard";
import type { View } from "./words";

/** What a draft may take, as it stands on the server. */
export function DraftEstimate({ view }: { view: View }) {
  const { id } = view;
  const estimate = useQuery({
    queryKey: ["discussions", id, "estimate"],
    queryFn: () =>
      asked(client.GET("/api/discussions/{id}/estimate", { params: { path: { id } } })),
  }).data;
  if (!estimate) return null;
  return (
    <section className="card stack" aria-label="Estimate">
      <h2>Estimate</h2>
      <EstimateFigures estimate={estimate} />
    </section>
  );
}
