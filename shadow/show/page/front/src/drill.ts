// A class, executor, call site or thread: how its tasks are distributed, where they come from,
// what they waited for, their stacks, and the slowest of them.
import { isDimension, missing, shortOf, titleOf, type App, atMost } from "./app";
import { Flame } from "./contexts";
import { noName } from "./columns";
import type { Tasks } from "./cube";
import { taskLink } from "./axis";
import { DistributionFigure, type Curve } from "./distribution";
import { append, button, h, note, replace, select } from "./dom";
import { formatAt, formatCount, formatExact, formatNs, formatPercent, formatUnit, plural } from "./format";
import { tile } from "./gc";
import { partsTable, stackedBar } from "./parts";
import { dimensions, type Dimension, type State } from "./state";
import { Table } from "./tables";
import { bar } from "./verdict";
import type { Shown } from "./views";
import { sumOf, waitParts } from "./waits";

/** drillView makes the view of a name. */
export function drillView(app: App, st: State): Shown {
  const d = st.view;
  if (!isDimension(d)) return { els: [], update: () => undefined };
  const index = app.tasks.indexOf(d, st.name);
  if (index < 0) {
    const text = st.name ? `This session has no ${titleOf[d].one.toLowerCase()} “${st.name}”.` : `No ${titleOf[d].one.toLowerCase()} was chosen.`;
    return { els: [h("section", { class: "panel", id: "drill" }, h("p", { class: "missing" }, text), h("a", { href: app.store.link({ view: "overview", name: "" }) }, "To the overview"))], update: () => undefined };
  }
  const parts = [head(app, d, index), distribution(app, d, index), related(app, d, index)];
  if (d === "class") parts.push(waits(app, index));
  if (d === "thread") parts.push(laneStates(app, index));
  parts.push(slowest(app, d, index));
  if (d === "class") {
    const flame = new Flame(app, () => index, "Contexts");
    parts.push({ els: [flame.el], update: (s) => flame.update(s) });
  }
  return { els: [h("div", { id: "drill", "data-key": st.name, class: "drill" }, ...parts.flatMap((p) => p.els))], update: (s) => parts.forEach((p) => p.update(s)) };
}

// queryOf is what the state asks for of a name.
function queryOf(tasks: Tasks, st: State, d: Dimension, index: number) {
  const q = tasks.queryOf(st);
  return { ...q, only: { ...q.only, [d]: index } };
}

function head(app: App, d: Dimension, index: number): Shown {
  const name = app.tasks.nameAt(d, index);
  const title = name.name.length <= 80 ? name.name : shortOf(name);
  const tiles = h("div", { class: "tiles" });
  const update = (st: State) => {
    const q = queryOf(app.tasks, st, d, index);
    const m = app.tasks.measures.length ? app.tasks.spreadOf(q, 0) : null;
    const all = app.tasks.spreadOf({ ...q, only: { class: -1, executor: -1, site: -1, thread: -1 } }, 0);
    const whole = app.tasks.whole(q, d);
    replace(tiles, tile(m ? formatCount(m.count) : "n/a", m?.count === 1 ? app.tasks.cube.one : app.tasks.cube.many));
    if (m && all.sum > 0) append(tiles, tile(formatPercent(m.sum / all.sum), "of the work" + (st.to > 0 ? " in the window" : "")));
    if (m) append(tiles, tile(formatUnit(m.sum, app.tasks.measures[0]!.unit), app.tasks.measures[0]!.label));
    if (whole && name.created >= 0) append(tiles, tile(formatCount(name.created), "created"));
    if (whole && name.never > 0) append(tiles, tile(atMost(app.data) + formatCount(name.never), "never executed"));
    if (d === "thread" && whole && name.cpu_ns >= 0) append(tiles, tile(formatNs(name.cpu_ns), "CPU time of the thread"));
  };
  update(app.state);
  const filtered = button("Filter all tables by it", () => app.store.set({ view: "overview", name: "", filters: { ...app.state.filters, [d]: name.name } }), { class: "button" });
  const els = [h("section", { class: "panel" },
    h("div", { class: "title-line" }, h("span", { class: "what" }, titleOf[d].one), h("h2", null, title), name.platform ? h("span", { class: "quiet" }, "of the platform") : null),
    title !== name.name ? h("p", { class: "quiet full-name" }, h("code", null, name.name)) : null, tiles,
    h("div", { class: "foot" }, filtered, h("a", { class: "back", href: app.store.link({ view: "overview", name: "", versus: "" }) }, "All tables")))];
  return { els, update };
}

function distribution(app: App, d: Dimension, index: number): Shown {
  const figure = new DistributionFigure();
  const choices = h("div", { class: "panel-head" });
  const { tasks } = app;
  const update = (st: State) => {
    if (!tasks.measures.length) return;
    const m = tasks.measureOf(st.measure);
    const q = queryOf(tasks, st, d, index);
    const name = tasks.nameAt(d, index);
    const curves: Curve[] = [{ label: shortOf(name), spread: tasks.spreadOf(q, m), paint: { color: 1, shape: "solid" } }];
    const versus = st.versus && st.versus !== "*" ? tasks.indexOf(d, st.versus) : -1;
    if (versus >= 0) curves.push({ label: shortOf(tasks.nameAt(d, versus)), spread: tasks.spreadOf(queryOf(tasks, st, d, versus), m), paint: { color: 2, shape: "diagonal" } });
    if (st.versus === "*") curves.push({ label: "all " + tasks.cube.many, spread: tasks.spreadOf({ ...q, only: { class: -1, executor: -1, site: -1, thread: -1 } }, m), paint: { color: 7, shape: "dots" } });
    const other = app.other && otherSpread(app, d, name.name, m);
    if (other) curves.push(other);
    replace(choices, h("h2", null, "Distribution"),
      select("Measure", tasks.measures.map((x) => ({ value: x.key, text: x.label })), tasks.measures[m]!.key, (measure) => app.store.set({ measure }), "drill-measure"),
      select("Compare with", versusOptions(app, d, index), st.versus, (v) => app.store.set({ versus: v }), "versus"));
    figure.set(curves, tasks.measures[m]!);
  };
  update(app.state);
  return { els: [h("section", { class: "panel" }, choices, tasks.measures.length ? figure.el : note("No measure was recorded."))], update };
}

function otherSpread(app: App, d: Dimension, name: string, m: number): Curve | null {
  const other = app.other!;
  const index = other.tasks.indexOf(d, name);
  const measure = other.tasks.find(app.tasks.measures[m]!.key);
  if (index < 0 || measure < 0) return null;
  const only = { class: -1, executor: -1, site: -1, thread: -1, [d]: index };
  return { label: "in " + other.data.session.name, spread: other.tasks.spreadOf({ from: 0, to: other.data.slots, only }, measure), paint: { color: 3, shape: "back" } };
}

function versusOptions(app: App, d: Dimension, index: number): { value: string; text: string }[] {
  const names = app.tasks.namesOf(d).map((n, i) => ({ n, i })).filter(({ n, i }) => i !== index && n.name && (!n.platform || app.state.platform || n.name === app.state.versus));
  return [{ value: "", text: "nothing" }, { value: "*", text: "all " + app.tasks.cube.many }, ...names.slice(0, 300).map(({ n }) => ({ value: n.name, text: shortOf(n) }))];
}

// related are the other dimensions: on which executors, from which sites, on which threads.
function related(app: App, d: Dimension, index: number): Shown {
  const others = dimensions.filter((o) => o !== d);
  const holder = h("div", { class: "grid3" });
  const titles: Record<Dimension, string> = { class: "Classes", executor: "Executors", site: "Submitted at", thread: "Executed by" };
  const update = (st: State) => {
    const q = queryOf(app.tasks, st, d, index);
    replace(holder, ...others.map((o) => {
      const rows = app.tasks.table({ ...q, only: { ...q.only, [o]: -1 } }, o, app.tasks.measures.length ? [0] : []).filter((r) => r.count > 0).sort((a, b) => b.count - a.count);
      const whole = rows.reduce((n, r) => n + r.count, 0);
      const list = h("ul", { class: "list" }, ...rows.slice(0, 8).map((r) => h("li", null,
        r.name.name ? h("a", { href: app.link(o, r.name.name), title: r.name.name }, shortOf(r.name)) : h("span", { class: "quiet" }, r.name.short),
        bar(r.count / whole, "var(--c1)"), h("span", { class: "number" }, formatCount(r.count)))));
      return h("section", { class: "panel" }, h("h2", null, titles[o]), list, rows.length ? null : note("Nothing in this window."),
        rows.length > 8 ? note(`and ${plural(rows.length - 8, "other", "others")}`) : null);
    }));
  };
  update(app.state);
  return { els: [holder], update };
}

function waits(app: App, index: number): Shown {
  const w = app.data.waits;
  const holder = h("div");
  const update = (st: State) => {
    if (!w) return;
    const parts = waitParts(app, w, index, st);
    const whole = sumOf(parts);
    replace(holder, w.by_slot || st.to <= 0 ? null : note("Of the whole session: these figures do not follow the window."),
      whole ? stackedBar(parts, whole) : note("Where the time of this class went was not recorded."), whole ? partsTable(parts, whole, formatNs, "in all") : null);
  };
  update(app.state);
  return { els: [h("section", { class: "panel", id: "drill-waits" }, h("h2", null, "Where its time went"), w ? holder : missing(app.data, "waits", "What tasks waited for is"))], update };
}

// laneStates adds up what a thread did in the window.
function laneStates(app: App, index: number): Shown {
  const lanes = app.data.lanes;
  const lane = lanes?.lanes.findIndex((l) => l.thread === index) ?? -1;
  const holder = h("div");
  const update = (st: State) => {
    if (!lanes || lane < 0) return;
    const { buckets, bucket_ns } = app.data.bands;
    const [a, b] = app.tasks.slots(st.from, st.to);
    const each = Math.round(buckets / app.data.slots);
    const n = lanes.states.length;
    const parts = lanes.states.map((label, k) => {
      let sum = 0;
      for (let i = a * each; i < Math.min(buckets, b * each); i++) sum += lanes.shares[(lane * n + k) * buckets + i]!;
      return { label, value: (sum / 255) * bucket_ns };
    });
    const whole = Math.max(1, (b - a) * app.data.slot_ns);
    const shared = lanes.lanes[lane]!.count;
    replace(holder, shared > 1 ? note(`${formatExact(shared)} threads share this lane.`) : null, stackedBar(parts, Math.max(whole, sumOf(parts))), partsTable(parts, whole, formatNs, "in all"));
  };
  update(app.state);
  const absent = lanes ? note("This thread has no lane: it is not among those that were kept.") : missing(app.data, "lanes", "What threads did is");
  return { els: [h("section", { class: "panel", id: "drill-states" }, h("h2", null, "What the thread did"), lane >= 0 ? holder : absent)], update };
}

const mostSlow = 20;

/** slowest are the longest tasks of a name in the window. */
function slowest(app: App, d: Dimension, index: number): Shown {
  const sl = app.data.slices;
  const ids = { class: sl.class, executor: sl.executor, site: sl.site, thread: sl.thread }[d];
  const about = note();
  const name = (o: Dimension, at: number) => (at === noName ? "" : shortOf(app.tasks.nameAt(o, at)));
  const text = (o: Dimension, list: Uint16Array) => ({
    key: o, title: titleOf[o].one.toLowerCase(), kind: "text" as const, width: 0, value: (i: number) => name(o, list[i]!), cell: (i: number) => h("span", { title: app.tasks.nameAt(o, list[i]!).name }, name(o, list[i]!)),
  });
  const optional = (key: string, title: string, list: Float32Array) => ({
    key, title, kind: "number" as const, value: (i: number) => (list[i]! < 0 ? NaN : list[i]!), cell: (i: number) => (list[i]! < 0 ? "–" : formatNs(list[i]!)),
  });
  const table = new Table<number>({
    id: "slowest", label: "The slowest", sort: "-ns", height: mostSlow, keyOf: String, empty: "No single task of these was kept for this window.",
    onRow: (i) => app.store.set(taskLink(app, i)),
    columns: [
      { key: "start", title: "began at", kind: "name", width: 7, value: (i) => sl.start[i]!, cell: (i) => h("a", { href: app.store.link(taskLink(app, i)) }, formatAt(sl.start[i]!, 1e6)) },
      { key: "ns", title: "wall time", kind: "number", value: (i) => sl.ns[i]!, cell: (i) => formatNs(sl.ns[i]!) },
      optional("cpu", "CPU time", sl.cpu), optional("queue", "queue time", sl.queue),
      ...(d === "class" ? [] : [text("class", sl.class)]), ...(d === "thread" ? [] : [text("thread", sl.thread)]),
      ...(d === "executor" ? [] : [text("executor", sl.executor)]), ...(d === "site" ? [] : [text("site", sl.site)]),
    ],
  });
  const update = (st: State) => {
    const [a, b] = app.tasks.slots(st.from, st.to);
    const [from, to] = [a * app.data.slot_ns, b * app.data.slot_ns];
    const only = app.tasks.queryOf(st).only;
    const keep = (i: number) => (["class", "executor", "site", "thread"] as const).every((o) => o === d || only[o] < 0 || sl[o][i] === only[o]);
    const found: number[] = [];
    for (let i = 0; i < ids.length; i++) {
      const end = sl.start[i]! + sl.ns[i]!;
      // The last slot has what ended at the very end.
      if (ids[i] === index && end >= from && (end < to || b === app.data.slots) && keep(i)) found.push(i);
    }
    found.sort((x, y) => sl.ns[y]! - sl.ns[x]!);
    table.setRows(found.slice(0, mostSlow));
    about.textContent = (sl.all ? "" : `Of ${formatCount(sl.total)} tasks, the longest of each class and a random sample were kept one by one: ${formatCount(sl.start.length)}. `) +
      "Open one to see it in the lane of its thread.";
  };
  update(app.state);
  return { els: [h("section", { class: "panel" }, h("h2", null, "The slowest"), about, table.el)], update };
}
