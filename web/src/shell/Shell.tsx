import { Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { useTokenWanted } from "../api/access";
import { useNews } from "../live/news";
import { Announcer } from "../ui/announce";
import { Loading } from "../ui/Empty";
import { useShortcutKeys, useShortcuts } from "../ui/shortcuts";
import { Crash } from "./Crash";
import { useFocusKept } from "./focus";
import { Help } from "./Help";
import { Lost } from "./Lost";
import { Palette } from "./Palette";
import { isSessionPage } from "./places";
import { Rail } from "./Rail";
import { useTheme } from "./theme";
import { TokenPrompt } from "./TokenPrompt";
import { useWaitingTold } from "./waiting";

export { useTitle } from "./title";

export function Shell({ children }: { children: ReactNode }) {
  useTheme();
  useShortcutKeys();
  const isTokenWanted = useTokenWanted();
  return (
    <>
      {isTokenWanted ? <TokenPrompt /> : <Inside>{children}</Inside>}
      <Announcer />
    </>
  );
}

function Inside({ children }: { children: ReactNode }) {
  useNews();
  useWaitingTold();
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  useFocusKept(main);
  const first = useRef(true);
  const [open, setOpen] = useState<"palette" | "help">();
  useShortcuts([
    { key: "Mod+k", label: "Search and commands", run: () => setOpen("palette") },
    { key: "?", label: "Show all shortcuts", run: () => setOpen("help") },
  ]);
  useEffect(() => {
    // Whoever listens to the page is told of the new one; the first load is told by the browser.
    // A page that has taken the focus for itself keeps it.
    const isTaken = main.current?.contains(document.activeElement);
    if (!first.current && !isTaken) main.current?.focus({ preventScroll: true });
    first.current = false;
    main.current?.scrollTo(0, 0);
  }, [here]);
  return (
    <div className={isSessionPage(here) ? "shell slim" : "shell"}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Rail onSearch={() => setOpen("palette")} onHelp={() => setOpen("help")} />
      <main id="main" ref={main} tabIndex={-1} data-place={placeOf(here)}>
        <Lost />
        <Crash key={here}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </Crash>
      </main>
      {open === "palette" && <Palette onClose={() => setOpen(undefined)} />}
      {open === "help" && <Help onClose={() => setOpen(undefined)} />}
    </div>
  );
}

/** The noun of an address. The styles of a noun count there and nowhere else. */
function placeOf(here: string): string {
  return here.split("/")[1] || "home";
}
