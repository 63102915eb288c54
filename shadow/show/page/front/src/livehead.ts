// The bar on top of a live page: where it is, how the connection is, how old the figures are.
import { button, h } from "./dom";
import { duration } from "./livefigures";
import { Connection, type State } from "./liveconnection";
import { harmless, setText } from "./livetable";
import { modeButton } from "./theme";

const words: Record<State, string> = {
  connecting: "connecting…", live: "live", reconnecting: "reconnecting…", paused: "paused", hidden: "paused in the background", gone: "ended",
};

/** LiveHead shows a connection. */
export class LiveHead {
  readonly el: HTMLElement;
  private readonly word = h("span", { class: "word" });
  private readonly age = h("span", { class: "age", "aria-hidden": "true" });
  private readonly why = h("span", { class: "why" });
  private readonly connection = h("div", { id: "connection" }, h("span", { class: "dot", "aria-hidden": "true" }), this.word, this.age, this.why);
  private readonly pause = button("Pause", () => this.toggle(), { class: "button", id: "pause", "aria-pressed": "false" });
  private live: Connection<unknown> | undefined;
  /** How old the figures were when they came, in milliseconds. */
  late = 0;

  constructor(place: Node) {
    this.el = h("header", { class: "top livetop" }, h("a", { class: "skip", href: "#main" }, "Skip to the figures"), place, this.connection, h("div", { class: "tools" }, this.pause, modeButton()));
    this.show("connecting", "");
    setInterval(() => this.tick(), 200);
  }

  /** follow shows the state of a connection. */
  follow<T>(address: string, data: (snapshot: T) => void): void {
    const live = new Connection<T>(address, {
      data: (snapshot) => {
        data(snapshot);
        this.tick();
      },
      state: (state, why) => this.show(state, why),
    });
    this.live = live;
    live.start();
  }

  private toggle(): void {
    this.live?.pause(!this.live.paused);
    this.pause.setAttribute("aria-pressed", String(this.live?.paused ?? false));
  }

  private show(state: State, why: string): void {
    const before = this.connection.dataset["state"];
    this.connection.dataset["state"] = state;
    document.documentElement.dataset["connection"] = state;
    setText(this.word, words[state]);
    setText(this.why, why);
    // The first connection is no news.
    if (before !== undefined && before !== state && (state !== "live" || before === "reconnecting") && state !== "hidden") announce("Connection: " + words[state]);
    this.tick();
  }

  private tick(): void {
    const arrived = this.live?.arrived ?? -1;
    setText(this.age, arrived < 0 ? "" : "as of " + ageText(performance.now() - arrived + this.late) + " ago");
  }
}

function ageText(ms: number): string {
  const s = ms / 1000;
  return s < 60 ? s.toFixed(1) + " s" : duration(ms);
}

const region = h("div", { class: "out", role: "status", id: "announcements" });
let waiting: string[] = [];
let timer = 0;
// A screen reader reads one text to its end; what comes meanwhile is put together.
const pace = 3_000;

/** announce has a screen reader say something when it is done with what it says. */
export function announce(text: string): void {
  if (!region.isConnected) document.body.append(region);
  waiting.push(text);
  if (timer) return;
  timer = window.setTimeout(() => {
    timer = 0;
    region.textContent = harmless(waiting.join(". "));
    waiting = [];
  }, region.textContent ? pace : 100);
}
