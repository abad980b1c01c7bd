// What had the focus may go away, or may be out of reach for a moment, because it was pressed.
// Who works without a pointer then goes on beside it, and not at the top of the page.

import { useEffect, type RefObject } from "react";

const BESIDE = "button:not(:disabled), a[href], summary";
/** Whoever takes something away may know better where to go on. */
const SETTLE_MS = 80;

export function useFocusKept(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const page = main.current;
    if (!page) return;
    let last: HTMLElement | undefined;
    let around: HTMLElement[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = ({ target }: FocusEvent) => {
      last = target instanceof HTMLElement && target !== page ? target : undefined;
      around = [];
      for (let up = last?.parentElement; up && page.contains(up); up = up.parentElement)
        around.push(up);
    };
    const forget = () => (last = undefined);
    const isLost = () =>
      last !== undefined && (!document.activeElement || document.activeElement === document.body);
    const goOn = () => {
      if (!isLost()) return;
      last?.focus({ preventScroll: true });
      const near = around.find((one) => one.isConnected && one.querySelector(BESIDE));
      if (isLost()) near?.querySelector<HTMLElement>(BESIDE)?.focus({ preventScroll: true });
      if (isLost()) page.focus({ preventScroll: true });
    };
    const watch = new MutationObserver(() => {
      if (!isLost()) return;
      clearTimeout(timer);
      timer = setTimeout(goOn, SETTLE_MS);
    });
    page.addEventListener("focusin", note);
    // Who clicks beside everything wants no focus.
    document.addEventListener("pointerdown", forget, true);
    watch.observe(page, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    return () => {
      page.removeEventListener("focusin", note);
      document.removeEventListener("pointerdown", forget, true);
      watch.disconnect();
      clearTimeout(timer);
    };
  }, [main]);
}
