// What all parts of the page share: the session, the one it is compared with, and the state.
import { Tasks } from "./cube";
import type { Data, Name } from "./data";
import { h } from "./dom";
import { dimensions, type Dimension, type State, type Store } from "./state";
import { others, paintOfRank, type Paint } from "./theme";

/** App is the page over a session. */
export class App {
  readonly tasks: Tasks;
  private readonly ranks = new Map<string, number>();
  private readonly queues: Map<string, number>;
  /** The session that this one is compared with. */
  other: { data: Data; tasks: Tasks } | undefined;

  constructor(readonly data: Data, readonly store: Store) {
    this.tasks = new Tasks(data);
    // A class has one colour wherever it is: those of the figures over time come first.
    const add = (key: string) => {
      if (key && !this.ranks.has(key)) this.ranks.set(key, this.ranks.size);
    };
    data.bands.started.forEach((s) => add(s.key));
    data.bands.running.forEach((s) => add(s.key));
    this.queues = new Map(data.bands.queued.filter((s) => s.key).map((s, i) => [s.key, i]));
  }

  get state(): State { return this.store.state; }

  /** compare takes the other session. */
  compare(data: Data | undefined): void { this.other = data && { data, tasks: new Tasks(data) }; }

  /** classPaint is the paint of a class. */
  classPaint(name: string): Paint {
    const rank = this.ranks.get(name);
    return rank === undefined ? others : paintOfRank(rank);
  }

  /** queuePaint is the paint of an executor. */
  queuePaint(name: string): Paint {
    const rank = this.queues.get(name);
    return rank === undefined ? others : paintOfRank(rank);
  }

  /** missing is why something is not there. */
  missing(key: string, what: string): HTMLElement { return missing(this.data, key, what); }

  /** link leads to the view of a name, which starts without what belonged to another view. */
  link(d: Dimension, name: string): string {
    return this.store.link({ view: d, name, versus: "", task: -1, kind: "", filters: { ...this.state.filters, [d]: "" } });
  }
}

/** missing is why something is not there. */
export function missing(data: Data, key: string, what: string): HTMLElement {
  const why = data.missing[key];
  return h("p", { class: "missing", "data-missing": key }, why ? `${what} not available: ${why}.` : `${what} not available.`);
}

/** titleOf names a dimension. */
export const titleOf: Record<Dimension, { one: string; many: string }> = {
  class: { one: "Class", many: "Classes" },
  executor: { one: "Executor", many: "Executors" },
  site: { one: "Call site", many: "Call sites" },
  thread: { one: "Thread", many: "Threads" },
};

/** isDimension tells the views of a name from others. */
export function isDimension(view: string): view is Dimension { return (dimensions as readonly string[]).includes(view); }

/** shortOf is how a name is shown where there is little room. */
export function shortOf(n: Name): string { return n.short || n.name; }

/** atMost marks numbers of tasks that never ran, where missing records may have run some. */
export function atMost(data: Data): string { return data.session.never_at_most ? "≤ " : ""; }
