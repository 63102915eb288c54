// The views below the time axis.
import type { App } from "./app";
import { taskOf } from "./axis";
import { bottleView } from "./bottle";
import { noName } from "./columns";
import { compareView } from "./compare";
import { contextsView } from "./contexts";
import { h, note, replace } from "./dom";
import { drillView } from "./drill";
import { formatAt, formatCount, formatNs } from "./format";
import { gcView } from "./gc";
import { Linked } from "./linked";
import { stackView } from "./stack";
import { dimensions, type Dimension, type State } from "./state";
import { verticalView } from "./vertical";
import { waitsView } from "./waits";

/** Shown is a view: its elements, and how it follows the state. */
export interface Shown {
  els: HTMLElement[];
  update(st: State): void;
}

/** makeView makes the view of a state. */
export function makeView(app: App, st: State): Shown {
  switch (st.view) {
    case "overview":
      return overview(app);
    case "lanes":
      return lanesView(app);
    case "waits":
      return waitsView(app);
    case "bottle":
      return bottleView(app);
    case "stack":
      return stackView(app);
    case "contexts":
      return contextsView(app);
    case "gc":
      return gcView(app);
    case "vertical":
      return verticalView(app);
    case "compare":
      return compareView(app);
    default:
      return drillView(app, st);
  }
}

function overview(app: App): Shown {
  const tables = dimensions.map((d) => new Linked(app, d));
  return { els: [h("div", { class: "tables" }, ...tables.map((t) => t.el))], update: (st) => tables.forEach((t) => t.update(st)) };
}

// lanesView is what stands below the lanes: the task that is shown, and how to find others.
function lanesView(app: App): Shown {
  const panel = h("section", { class: "panel" });
  const update = (st: State) => {
    const thread = st.name ? app.tasks.indexOf("thread", st.name) : -1;
    const i = taskOf(app, st.task, thread);
    if (i < 0) replace(panel, h("h2", null, "Tasks"), note(kept(app)), note("Zoom in with + or Ctrl and the wheel; click on a task to see its figures here."));
    else replace(panel, ...details(app, i));
  };
  update(app.state);
  return { els: [panel], update };
}

function kept(app: App): string {
  const sl = app.data.slices;
  if (sl.all) return `All ${formatCount(sl.total)} tasks are in the lanes.`;
  return `Of ${formatCount(sl.total)} tasks, ${formatCount(sl.start.length)} are in the lanes: the longest of each class and a random sample of the others.`;
}

function details(app: App, i: number): HTMLElement[] {
  const sl = app.data.slices;
  const name = (d: Dimension, at: number) => {
    const n = app.tasks.nameAt(d, at);
    return at === noName ? "not known" : h("a", { href: app.link(d, n.name), title: n.name }, n.short || n.name);
  };
  const rows: [string, Node | string][] = [
    ["class", name("class", sl.class[i]!)], ["thread", name("thread", sl.thread[i]!)], ["executor", name("executor", sl.executor[i]!)],
    ["call site", name("site", sl.site[i]!)], ["began at", formatAt(sl.start[i]!, 1e3)], ["from start to end", formatNs(sl.ns[i]!)],
    ["CPU time", sl.cpu[i]! < 0 ? "not known" : formatNs(sl.cpu[i]!)], ["in the queue before", sl.queue[i]! < 0 ? "not known" : formatNs(sl.queue[i]!)],
  ];
  return [h("h2", null, "Task"), h("dl", { id: "task", class: "details" }, ...rows.flatMap(([k, v]) => [h("dt", null, k), h("dd", null, v)])),
    note(sl.sampled[i] ? "It is one of the random sample." : "", " The dashed line below it is its time in the queue.")];
}
