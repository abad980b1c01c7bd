import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Connection } from "../live/follow";
import { StatusBadge } from "../shell/status";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/Menu";
import { spentInWords } from "../ui/Spent";
import { some } from "../ui/time";
import { totals } from "../ui/Totals";
import type { CouncilPage } from "./useCouncil";
import { CloseCouncil, RemoveCouncil } from "./Dialogs";

interface Props {
  page: CouncilPage;
  connection: Connection;
  readBack: (to?: number) => Promise<void>;
  renew: () => void;
}

export function CouncilHead({ page, connection, readBack, renew }: Props) {
  const { view } = page;
  const spent = totals(view);
  const [asks, setAsks] = useState<"close" | "remove">();
  const [isPrinting, setPrinting] = useState(false);
  const [, go] = useLocation();
  useEffect(() => {
    if (!isPrinting) return;
    setPrinting(false);
    window.print();
  }, [isPrinting]);
  const file = (format: string) =>
    `/api/councils/${encodeURIComponent(view.council)}/export?format=${format}`;
  return (
    <header className="council-head">
      <div>
        <p className="eyebrow">
          <Link href="/councils">Councils</Link>
          {view.project !== undefined && ` · ${view.project}`} · {some(view.last, "post")}
          {spent.length > 0 && (
            <span className="number" title={spentInWords(view.usage, {})}>
              {` · ${spent.join(" · ")}`}
            </span>
          )}
        </p>
        <h1>{view.council}</h1>
      </div>
      <div className="row no-print">
        {connection === "broken" && (
          <span className="badge warn" role="status">
            <Icon name="warning" size={12} /> Reconnecting
          </span>
        )}
        <StatusBadge status={view.status} kind="council" />
        {view.allowed.includes("close") && <Button onClick={() => setAsks("close")}>Close…</Button>}
        <Menu
          label="Export"
          icon="download"
          items={[
            {
              label: "Markdown",
              icon: "file",
              href: file("markdown"),
              download: `${view.council}.md`,
            },
            { label: "JSON", icon: "file", href: file("json"), download: `${view.council}.json` },
            {
              label: "Print",
              icon: "print",
              // All of it, not only what is here.
              run: () => void readBack(1).then(() => setPrinting(true)),
            },
          ]}
        />
        <Menu
          label="More"
          face={<Icon name="more" />}
          className="icon-button"
          items={[{ label: "Remove…", icon: "trash", run: () => setAsks("remove") }]}
        />
      </div>
      {asks === "close" && (
        <CloseCouncil
          view={view}
          onClose={() => setAsks(undefined)}
          onDone={() => {
            setAsks(undefined);
            renew();
          }}
        />
      )}
      {asks === "remove" && (
        <RemoveCouncil
          view={view}
          onClose={() => setAsks(undefined)}
          onDone={() => go("/councils")}
        />
      )}
    </header>
  );
}
