import { Suspense, useEffect, useRef, type ReactNode } from "react";
import { useLocation } from "wouter";
import { useTokenWanted } from "../api/access";
import { useNews } from "../live/news";
import { Announcer } from "../ui/announce";
import { Loading } from "../ui/Empty";
import { useShortcutKeys } from "../ui/shortcuts";
import { Crash } from "./Crash";
import { Rail } from "./Rail";
import { useTheme } from "./theme";
import { TokenPrompt } from "./TokenPrompt";

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
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    // Whoever listens to the page is told of the new one; the first load is told by the browser.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    main.current?.scrollTo(0, 0);
  }, [here]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Rail />
      <main id="main" ref={main} tabIndex={-1}>
        <Crash key={here}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </Crash>
      </main>
    </div>
  );
}

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Plenary" : `${title} · Plenary`;
  }, [title]);
}
