// An answer as models write them: headings, paragraphs, lists, a table, code, links.

const BLOCKS = [
  "## Position {n}\n\nThe proposal is **sound in direction** but under-specified in *rollout*. A staged migration keeps the blast radius small while preserving the option to stop, and the team keeps the number that would make it stop in view.\n\n",
  "- **Latency**: p95 drops from `420 ms` to roughly `130 ms` on the read path\n- **Cost**: one extra tier, about €380 per month at the traffic of today\n- **Risk**: stale reads during failover; see [the freshness model](https://example.org/freshness)\n  - mitigated by a limit of 30 seconds\n  - and by writing through on the hot keys\n\n",
  "```rust\npub async fn read(&self, key: &Key) -> Result<Row, Error> {\n    if let Some(hit) = self.cache.get(key).await? {\n        return Ok(hit);\n    }\n    let row = self.db.fetch(key).await?;\n    self.cache.put(key, &row, TTL).await?;\n    Ok(row)\n}\n```\n\n",
  "| Option | p95 | Load on operations | Reversible |\n|---|---:|---|---|\n| Cache in front | 130 ms | medium | yes |\n| Materialised views | 210 ms | low | yes |\n| Bigger machine | 300 ms | low | yes |\n\n",
  "> The strongest objection is not performance but *ownership*: nobody on the team has run this in production, and the first night it fails somebody has to know what to do.\n\n",
  "### What would change my mind\n\n1. A load test at **three times** the current peak that still meets the objective\n2. Evidence that invalidation bugs are rarer than one per quarter\n3. A written way back that the engineer on call can walk in under ten minutes\n\n",
];

/** So many words, cut where the count ends. */
export function answer(words: number): string {
  let text = "";
  let count = 0;
  for (let block = 0; count < words; block += 1) {
    const next = (BLOCKS[block % BLOCKS.length] ?? "").replace("{n}", String(block));
    const pieces = next.split(/(?<= )/);
    text += pieces.slice(0, words - count).join("");
    count += pieces.length;
  }
  return text;
}
