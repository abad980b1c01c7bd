// One browser has six connections per server for all its tabs, so that they share their
// streams: the tab that holds a lock reads for all, and the others hear it over a channel.
// When it closes, hides or falls asleep the next one takes the lock and reads on from what
// each tab has seen. Where there are more streams than places, they take turns: each comes
// back with the id of its last event, so that no turn loses anything.

import { serverWasSilent } from "../api/reachable";
import { follow, type Connection, type Following, type Frame } from "./follow";

/** A stream that a tab wants, from the id on that it has seen. */
interface Want {
  id: string;
  /** The same for the same stream, whoever wants it. */
  key: string;
  url: string;
  headers: Record<string, string>;
  after: string | undefined;
}

type Message =
  | { type: "leads"; isNew: boolean }
  | { type: "wants"; tab: string; lookedAt: number; wants: Want[] }
  | { type: "frame"; key: string; frame: Frame }
  | { type: "connection"; key: string; connection: Connection };

interface Mine {
  want: Want;
  following: Following;
}

const NAME = "plenary.live";
/** Of the six connections; the others are for requests. */
export const PLACES = 4;
/** So many of the places stay with the streams of the tabs that were looked at last. */
const KEPT = 2;
const TURN_MS = 1_000;
const BEAT_MS = 4_000;
/** A tab that is not heard of for so long has gone, or sleeps. */
const GONE_MS = 15_000;
/** A tab that nobody looks at for so long wants nothing. */
export const HIDDEN_MS = 20_000;
/** What several tabs want at once is arranged once. */
const GATHER_MS = 30;

export class Sharing {
  private readonly tab = crypto.getRandomValues(new Uint32Array(2)).join("-");
  private readonly mine = new Set<Mine>();
  private leader: Leader | undefined;
  private candidacy: AbortController | undefined;
  private channel: BroadcastChannel | undefined;
  private count = 0;
  private lookedAt = Date.now();
  private heardAt = 0;
  private beat: ReturnType<typeof setInterval> | undefined;
  private hidden: ReturnType<typeof setTimeout> | undefined;
  private isAway = false;

  constructor(private readonly locks: LockManager | undefined = navigator.locks) {}

  /** Follows until the returned function is called. */
  follow(following: Following): () => void {
    if (this.mine.size === 0) this.begin();
    const { url, headers = {}, after } = following;
    this.count += 1;
    const id = `${this.tab}/${this.count}`;
    const mine = {
      want: { id, key: JSON.stringify([url, headers]), url, headers, after },
      following,
    };
    this.mine.add(mine);
    this.tellWants();
    return () => {
      if (!this.mine.delete(mine)) return;
      this.tellWants();
      if (this.mine.size === 0) this.end();
    };
  }

  private begin(): void {
    // Without locks, as on plain http over a network, each tab reads for itself.
    if (this.locks) {
      this.channel = new BroadcastChannel(NAME);
      this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.hear(data);
    }
    document.addEventListener("visibilitychange", this.watchVisibility);
    window.addEventListener("focus", this.look);
    window.addEventListener("pagehide", this.leave);
    window.addEventListener("pageshow", this.look);
    this.heardAt = Date.now();
    this.beat = setInterval(this.onBeat, BEAT_MS);
    this.watchVisibility();
    this.stand();
  }

  private end(): void {
    document.removeEventListener("visibilitychange", this.watchVisibility);
    window.removeEventListener("focus", this.look);
    window.removeEventListener("pagehide", this.leave);
    window.removeEventListener("pageshow", this.look);
    clearInterval(this.beat);
    clearTimeout(this.hidden);
    this.stepDown();
    this.channel?.close();
    this.channel = undefined;
  }

  /** Waits for the lock; who holds it reads for all. */
  private stand(steal = false): void {
    if (this.candidacy || this.isAway) return;
    const candidacy = new AbortController();
    this.candidacy = candidacy;
    const lead = () => {
      if (candidacy.signal.aborted) return undefined;
      this.leader = new Leader((message) => this.say(message));
      this.say({ type: "leads", isNew: true });
      return new Promise<void>((done) => candidacy.signal.addEventListener("abort", () => done()));
    };
    if (!this.locks) {
      void lead();
      return;
    }
    // A theft cannot be taken back, and is over at once.
    const how = steal ? { steal } : { signal: candidacy.signal };
    this.locks.request(NAME, how, lead).catch(() => {
      // Somebody found us asleep and took over, or we stopped waiting.
      if (this.candidacy !== candidacy) return;
      this.stepDown();
      this.stand();
    });
  }

  private stepDown(): void {
    this.leader?.end();
    this.leader = undefined;
    this.candidacy?.abort();
    this.candidacy = undefined;
  }

  private say(message: Message): void {
    this.channel?.postMessage(message);
    this.hear(message);
  }

  private hear(message: Message): void {
    switch (message.type) {
      case "leads":
        this.heardAt = Date.now();
        if (message.isNew) this.tellWants();
        return;
      case "wants":
        this.leader?.wanted(message.tab, message.lookedAt, message.wants);
        return;
      case "frame":
        for (const { want, following } of this.mine) {
          if (want.key !== message.key || isSeen(message.frame.id, want.after)) continue;
          if (message.frame.id !== undefined) want.after = message.frame.id;
          following.onFrame(message.frame);
        }
        return;
      case "connection":
        if (message.connection === "broken" && !this.leader) serverWasSilent();
        for (const { want, following } of this.mine)
          if (want.key === message.key) following.onConnection?.(message.connection);
    }
  }

  private tellWants(): void {
    const wants = this.isAway ? [] : [...this.mine].map(({ want }) => want);
    this.say({ type: "wants", tab: this.tab, lookedAt: this.lookedAt, wants });
  }

  private onBeat = (): void => {
    if (this.leader) this.say({ type: "leads", isNew: false });
    this.tellWants();
    const isSilent = Date.now() - this.heardAt > GONE_MS;
    if (this.leader || !isSilent || document.visibilityState === "hidden") return;
    this.heardAt = Date.now();
    this.stepDown();
    this.stand(true);
  };

  private look = (): void => {
    this.lookedAt = Date.now();
    this.tellWants();
  };

  private leave = (): void => {
    this.say({ type: "wants", tab: this.tab, lookedAt: this.lookedAt, wants: [] });
  };

  private watchVisibility = (): void => {
    clearTimeout(this.hidden);
    if (document.visibilityState === "visible") {
      const wasAway = this.isAway;
      this.isAway = false;
      this.heardAt = Date.now();
      this.look();
      if (wasAway) this.stand();
      return;
    }
    // A hidden tab may fall asleep at any time: whoever waits for the lock has it now.
    if (this.leader && this.locks) {
      this.stepDown();
      this.stand();
    }
    this.hidden = setTimeout(() => {
      this.isAway = true;
      this.tellWants();
      this.stepDown();
    }, HIDDEN_MS);
  };
}

function isSeen(id: string | undefined, after: string | undefined): boolean {
  return id !== undefined && after !== undefined && Number(id) <= Number(after);
}

interface Stream {
  want: Want;
  /** What everybody who wants it has seen. */
  after: string | undefined;
  lookedAt: number;
  servedAt: number;
  close?: () => void;
}

/** Reads what all tabs want. */
class Leader {
  private readonly tabs = new Map<string, { lookedAt: number; heardAt: number; wants: Want[] }>();
  private readonly streams = new Map<string, Stream>();
  private known = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly turns = setInterval(() => this.arrange(true), TURN_MS);

  constructor(private readonly say: (message: Message) => void) {}

  wanted(tab: string, lookedAt: number, wants: Want[]): void {
    this.tabs.set(tab, { lookedAt, heardAt: Date.now(), wants });
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.arrange();
    }, GATHER_MS);
  }

  end(): void {
    clearInterval(this.turns);
    clearTimeout(this.timer);
    for (const stream of this.streams.values()) stream.close?.();
  }

  private arrange(isTurn = false): void {
    this.gather();
    const byLook = [...this.streams.values()].sort((a, b) => b.lookedAt - a.lookedAt);
    // Who has been waiting longest is next; between the turns nobody loses a place.
    const waits = ({ close, servedAt }: Stream) => (close && !isTurn ? -Infinity : servedAt);
    const inTurn = byLook.splice(KEPT).sort((a, b) => waits(a) - waits(b));
    const placed = new Set([...byLook, ...inTurn.slice(0, PLACES - KEPT)]);
    for (const stream of this.streams.values()) if (!placed.has(stream)) this.close(stream);
    for (const stream of placed) this.open(stream);
  }

  /** Which streams are wanted now, and from where on. */
  private gather(): void {
    const before = this.known;
    this.known = new Set();
    const wanted = new Set<string>();
    for (const [tab, { lookedAt, heardAt, wants }] of this.tabs) {
      if (wants.length === 0 || Date.now() - heardAt > GONE_MS) {
        this.tabs.delete(tab);
        continue;
      }
      for (const want of wants) {
        wanted.add(want.key);
        this.known.add(want.id);
        const stream = this.streams.get(want.key);
        if (!stream) {
          this.streams.set(want.key, { want, after: want.after, lookedAt, servedAt: 0 });
          continue;
        }
        stream.lookedAt = Math.max(stream.lookedAt, lookedAt);
        if (before.has(want.id)) continue;
        // Whoever comes later has not heard the texts so far: all of them come again.
        this.close(stream);
        if (isSeen(want.after, stream.after)) stream.after = want.after;
      }
    }
    for (const [key, stream] of this.streams) {
      if (wanted.has(key)) continue;
      this.close(stream);
      this.streams.delete(key);
    }
  }

  private open(stream: Stream): void {
    if (stream.close) return;
    const { key, url, headers } = stream.want;
    stream.servedAt = Date.now();
    stream.close = follow({
      url,
      headers,
      ...(stream.after !== undefined && { after: stream.after }),
      onFrame: (frame) => {
        if (frame.id !== undefined) stream.after = frame.id;
        this.say({ type: "frame", key, frame });
      },
      onConnection: (connection) => this.say({ type: "connection", key, connection }),
    });
  }

  private close(stream: Stream): void {
    if (!stream.close) return;
    stream.close();
    delete stream.close;
    stream.servedAt = Date.now();
  }
}

const sharing = new Sharing();

export function share(following: Following): () => void {
  return sharing.follow(following);
}
