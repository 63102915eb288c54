// The connection of a live page to the shadow: server-sent events that survive its
// restart, rest while nobody looks, and say what state they are in.

/** State is what the reader sees in #connection[data-state]. */
export type State = "connecting" | "live" | "reconnecting" | "paused" | "hidden" | "gone";

/** Handlers are told what happens. */
export interface Handlers<T> {
  /** A snapshot has arrived. */
  data(snapshot: T): void;
  /** The state has changed. why is what the shadow says, if it refuses. */
  state(state: State, why: string): void;
}

const firstRetry = 500; // ms; doubled up to longestRetry
const longestRetry = 5_000;
// The shadow sends every second. After so long a silence the connection is dead even if
// the network has not noticed.
const silence = 6_000;
// A shadow that has just started hears from its JVMs within seconds. One that it has not
// heard of for so long is gone.
const absence = 20_000;

/** Connection listens to the snapshots of an address. */
export class Connection<T> {
  private source: EventSource | null = null;
  private timer = 0;
  private retry = firstRetry;
  private wantsPause = false;
  private ended = false;
  private absent = -1; // when the shadow first did not know the JVM
  /** performance.now() of the last snapshot; negative before the first. */
  arrived = -1;
  current: State | null = null;

  constructor(private readonly address: string, private readonly handlers: Handlers<T>) {
    document.addEventListener("visibilitychange", () => this.follow());
    // A page that comes back from the browser's cache of pages has a dead connection.
    window.addEventListener("pageshow", (e) => {
      if (e.persisted) this.follow();
    });
    window.addEventListener("pagehide", () => this.stop());
  }

  get paused(): boolean { return this.wantsPause; }

  /** start listens for the first time. */
  start(): void { this.follow(); }

  /** pause stops the snapshots, or goes on. */
  pause(yes: boolean): void {
    this.wantsPause = yes;
    this.follow();
  }

  private follow(): void {
    if (this.ended) return;
    this.stop();
    if (this.wantsPause) this.enter("paused");
    else if (document.hidden) this.enter("hidden");
    else this.open();
  }

  private stop(): void {
    window.clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  private enter(state: State, why = ""): void {
    if (state === this.current && !why) return;
    this.current = state;
    this.handlers.state(state, why);
  }

  private open(): void {
    if (this.current !== "reconnecting" && this.current !== "gone") this.enter("connecting");
    const source = new EventSource(this.address);
    this.source = source;
    source.onmessage = (e: MessageEvent<string>) => {
      this.arrived = performance.now();
      this.retry = firstRetry;
      this.absent = -1;
      this.watch();
      this.enter("live");
      this.handlers.data(JSON.parse(e.data) as T);
    };
    source.addEventListener("end", () => {
      this.ended = true;
      this.stop();
      this.enter("gone");
    });
    // The browser retries after some errors, and gives up after others, at its own pace. One
    // rule for all of them is easier to follow.
    source.onerror = () => void this.again();
    this.watch();
  }

  private watch(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.again(), silence);
  }

  private async again(): Promise<void> {
    this.stop();
    if (this.current !== "gone") this.enter("reconnecting");
    this.timer = window.setTimeout(() => this.open(), this.retry * (0.75 + Math.random() / 2));
    this.retry = Math.min(2 * this.retry, longestRetry);
    const refusal = await refusalOf(this.address);
    if (!refusal || (this.current !== "reconnecting" && this.current !== "gone")) return; // it is away, back, or paused
    const now = performance.now();
    if (refusal.status === 404 && this.absent < 0) this.absent = this.arrived < 0 ? now - absence : now;
    this.enter(refusal.status === 404 && now - this.absent >= absence ? "gone" : "reconnecting", refusal.text);
  }
}

// An EventSource does not say why it failed; the answer to a plain request does. null: there
// is no answer, or it is a good one.
async function refusalOf(address: string): Promise<{ status: number; text: string } | null> {
  const stop = new AbortController();
  try {
    const answer = await fetch(address, { credentials: "same-origin", signal: stop.signal });
    return answer.ok ? null : { status: answer.status, text: (await answer.text()).trim().slice(0, 200) };
  } catch {
    return null;
  } finally {
    stop.abort();
  }
}
