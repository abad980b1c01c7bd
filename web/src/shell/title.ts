import { useEffect } from "react";

let page = "";
let waiting = 0;

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    page = title;
    show();
  }, [title]);
}

/** How many sessions wait for a person stands before the title. */
export function useCountInTitle(count: number): void {
  useEffect(() => {
    waiting = count;
    show();
    return () => {
      waiting = 0;
      show();
    };
  }, [count]);
}

function show(): void {
  const title = page === "" ? "Plenary" : `${page} · Plenary`;
  document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
}
