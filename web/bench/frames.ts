// What a page costs per frame while something goes on: processor time of its main thread,
// frames that were dropped, long tasks.

import type { CDPSession, Page } from "playwright-core";

const FRAME_MS = 1_000 / 60;

export interface Measured {
  seconds: number;
  frames: number;
  /** Of the main thread, per frame. */
  taskMs: number;
  scriptMs: number;
  layoutMs: number;
  longTasks: number;
  longestMs: number;
  blockedMs: number;
  dropped: number;
}

interface Watch {
  frames: number[];
  long: number[];
  stopped: boolean;
}

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const watch: Watch = { frames: [], long: [], stopped: false };
    Object.assign(window, { watch });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) watch.long.push(entry.duration);
    }).observe({ type: "longtask" });
    const frame = (at: number) => {
      watch.frames.push(at);
      if (!watch.stopped) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

async function watched(page: Page): Promise<Watch> {
  return page.evaluate(() => {
    const { watch } = window as unknown as { watch: Watch };
    watch.stopped = true;
    return watch;
  });
}

/** Measures a page while `during` goes on. */
export async function measured(page: Page, during: () => Promise<void>): Promise<Measured> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await watch(page);
  const before = await metrics(session);
  const began = performance.now();
  await during();
  const after = await metrics(session);
  const seconds = (performance.now() - began) / 1_000;
  const { frames, long } = await watched(page);
  const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
  const per = (name: string) =>
    (((after[name] ?? 0) - (before[name] ?? 0)) * 1_000) / Math.max(1, frames.length);
  return {
    seconds,
    frames: frames.length,
    taskMs: per("TaskDuration"),
    scriptMs: per("ScriptDuration"),
    layoutMs: per("LayoutDuration") + per("RecalcStyleDuration"),
    longTasks: long.length,
    longestMs: Math.max(0, ...long),
    blockedMs: long.reduce((sum, one) => sum + one - 50, 0),
    dropped: gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / FRAME_MS) - 1), 0),
  };
}

export function row(name: string, one: Measured): string {
  const share = (100 * one.dropped) / Math.max(1, one.dropped + one.frames);
  return [
    name.padEnd(16),
    `${one.taskMs.toFixed(1)} ms/frame`.padStart(15),
    `script ${one.scriptMs.toFixed(1)}`.padStart(13),
    `layout ${one.layoutMs.toFixed(1)}`.padStart(13),
    `${(one.frames / one.seconds).toFixed(1)} frames/s`.padStart(15),
    `${one.dropped} dropped (${share.toFixed(1)} %)`.padStart(20),
    `${one.longTasks} long tasks, longest ${one.longestMs.toFixed(0)} ms`.padStart(34),
  ].join("  ");
}
