// The vertical profile: what explains the phases of the throughput, all monitors beside the window, and how the chosen
// ones go together.
import { missing, type App } from "./app";
import { matrix, pearson, showR } from "./correlate";
import type { Cause, Monitor, Phase, Vertical } from "./data";
import { button, h, note, replace, select, wide } from "./dom";
import { formatAt, formatExact, formatNs, plural } from "./format";
import { chosenMonitors, formatValue, layers, mostChosen, toggleMonitor, valuesOf } from "./monitors";
import type { State } from "./state";
import { Table, type ColumnOf } from "./tables";
import type { Shown } from "./views";

const throughput = "app.tasks.finished";

/** Compared is a monitor in the window beside the rest of the session. */
interface Compared { m: Monitor; inside: number; outside: number; effect: number; r: number }

/** verticalView makes the view. */
export function verticalView(app: App): Shown {
  const v = app.data.vertical;
  if (!v) {
    return { els: [h("section", { class: "panel", id: "vertical" }, h("h2", null, "Vertical profile"), missing(app.data, "vertical", "The vertical profile is"))], update: () => undefined };
  }
  const phases = phasesPanel(app, v);
  const table = monitorsPanel(app, v);
  const together = matrixPanel(app);
  const update = (st: State) => { phases.update(st); table.update(st); together.update(st); };
  update(app.state);
  return { els: [phases.el, table.el, together.el], update };
}

function overlaps(st: State, from: number, to: number): boolean { return st.to > 0 && st.from < to && st.to > from; }

// phasesPanel lists the phases; those that the window covers are open.
function phasesPanel(app: App, v: Vertical): { el: HTMLElement; update(st: State): void } {
  const list = h("div", { class: "phases" });
  const about = note();
  const el = h("section", { class: "panel", id: "vertical" }, h("h2", null, "What moves with the throughput"), about, list);
  const bin = app.data.slot_ns;
  const show = (p: Phase) => app.store.set({ from: Math.floor(p.from / bin) * bin, to: Math.ceil(p.to / bin) * bin });
  const update = (st: State) => {
    const covered = v.phases.filter((p) => overlaps(st, p.from, p.to) || p.similar.some((r) => overlaps(st, r.from, r.to)));
    const shown = covered.length ? covered : v.phases;
    about.textContent = !v.phases.length ? "The throughput has no phase that stands out."
      : covered.length ? "The phases in the window. p is corrected for the number of series tried."
      : st.to > 0 ? "No phase lies in the window. These are those of the session. The table below compares the window with the rest of the session; shadow vertical --explain METRIC@FROM..TO tests it."
      : `Times in which the throughput differs from its usual level, found and explained from ${plural(v.samples, "sample", "samples")} of ${formatNs(v.sample_ns)}.`;
    replace(list, ...shown.map((p) => phase(p, covered.length > 0, () => show(p), app)));
  };
  return { el, update };
}

function phase(p: Phase, open: boolean, show: () => void, app: App): HTMLElement {
  const head = h("div", { class: "phase-head" }, button(`${formatAt(p.from, 1e7)} to ${formatAt(p.to, 1e7)}`, show, { class: "button", title: "Make this the window" }), h("p", null, p.sentence));
  if (!p.causes.length) return h("div", { class: "phase" }, head);
  return h("div", { class: "phase" }, head, h("details", { open }, h("summary", null, plural(p.causes.length, "candidate", "candidates")), causes(p.causes, app)));
}

function causes(list: Cause[], app: App): HTMLElement {
  const has = new Set(app.data.vertical!.monitors.map((m) => m.name));
  const rows = list.map((c, i) => h("tr", null, h("td", { class: "number" }, String(i + 1)),
    h("th", { scope: "row" }, has.has(c.monitor) ? button(c.monitor, () => toggleMonitor(app, c.monitor), { class: "link", title: "Show it as a band on the time axis" }) : c.monitor),
    h("td", null, layers.find((l) => l.key === c.layer)?.label ?? c.layer), h("td", { class: "number" }, c.before), h("td", { class: "number" }, c.during), h("td", null, c.change),
    h("td", { class: "number" }, c.lag), h("td", { class: "number" }, c.p < 0.001 ? "< 0.001" : c.p.toFixed(3)), h("td", { class: "quiet" }, c.group.join(", "))));
  const head = ["", "monitor", "layer", "before", "during", "change", "lag", "adjusted p", "moves with"];
  return wide("Candidates", h("table", { class: "legend-table" },
    h("thead", null, h("tr", null, ...head.map((t) => h("th", { scope: "col" }, t)))), h("tbody", null, ...rows)));
}

// monitorsPanel is the table of all monitors: a search, by layer, and what each did in the window.
function monitorsPanel(app: App, v: Vertical): { el: HTMLElement; update(st: State): void } {
  const search = h("input", { type: "search", class: "table-find", name: "find-monitor", placeholder: "Search monitors", "aria-label": "Search monitors" });
  search.addEventListener("input", () => app.store.set({ find: { ...app.state.find, monitors: search.value } }, true));
  const foot = h("div", { class: "foot" });
  const table = new Table<Compared>({
    id: "table-monitors", label: "Monitors", columns: [], sort: app.state.sort["monitors"] || "-effect", height: 14, keyOf: (c) => c.m.name,
    onSort: (sort) => app.store.set({ sort: { ...app.state.sort, monitors: sort } }, true), onRow: (c) => toggleMonitor(app, c.m.name),
    chosen: (c) => app.state.monitors.includes(c.m.name), empty: "No monitor has this name.",
  });
  const present = layers.filter((l) => v.monitors.some((m) => m.layer === l.key));
  const choice = select("Layer", [{ value: "", text: "all" }, ...present.map((l) => ({ value: l.key, text: l.label }))], app.state.find["layer"] ?? "",
    (layer) => app.store.set({ find: { ...app.state.find, layer } }, true), "monitor-layer");
  const about = note();
  const el = h("section", { class: "panel", "data-table": "monitors" }, h("div", { class: "panel-head" }, h("h2", null, "Monitors"), choice, search), about, table.el, foot);
  const update = (st: State) => {
    if (document.activeElement !== search) search.value = st.find["monitors"] ?? "";
    const find = (st.find["monitors"] ?? "").toLowerCase();
    const layer = st.find["layer"] ?? "";
    const rows = compare(app, st).filter((c) => (!layer || c.m.layer === layer) && (!find || (c.m.name + " " + c.m.doc).toLowerCase().includes(find)));
    about.textContent = "Click on a monitor to show it on the time axis. " + (st.to > 0
      ? "Sorted by how much the window differs from the rest of the session, in standard deviations: what stands out, not what is proved."
      : "Choose a window above to compare it with the rest of the session.");
    table.setColumns(columns(st.to > 0));
    table.setSort(st.sort["monitors"] || (st.to > 0 ? "-effect" : "name"));
    table.setRows(rows);
    const left = [v.unchanged && `${plural(v.unchanged, "monitor", "monitors")} never changed.`, v.omitted && `${formatExact(v.omitted)} more have no room here.`, v.note && v.note[0]!.toUpperCase() + v.note.slice(1) + "."];
    replace(foot, h("span", { class: "note" }, left.filter(Boolean).join(" ")));
  };
  return { el, update };
}

function columns(window: boolean): ColumnOf<Compared>[] {
  const number = (key: string, title: string, doc: string, value: (c: Compared) => number, format: (c: Compared) => string): ColumnOf<Compared> => ({ key, title, doc, kind: "number", width: key === "inside" || key === "outside" ? 9 : 6, value, cell: format });
  const out: ColumnOf<Compared>[] = [
    { key: "name", title: "monitor", kind: "name", value: (c) => layers.findIndex((l) => l.key === c.m.layer) + c.m.name, cell: (c) => h("span", { title: c.m.doc }, c.m.name) },
    { key: "layer", title: "layer", kind: "text", width: 7, value: (c) => layers.findIndex((l) => l.key === c.m.layer), cell: (c) => layers.find((l) => l.key === c.m.layer)?.label ?? c.m.layer },
    number("outside", window ? "outside" : "mean", "The mean over the session without the window", (c) => c.outside, (c) => formatValue(c.outside, c.m.unit)),
  ];
  if (window) {
    out.push(number("inside", "in the window", "The mean in the window", (c) => c.inside, (c) => formatValue(c.inside, c.m.unit)),
      number("effect", "differs by", "The difference in standard deviations", (c) => Math.abs(c.effect), (c) => (Number.isFinite(c.effect) ? c.effect.toFixed(1).replace("-", "−") + " σ" : "")));
  }
  out.push(number("r", "r", "Pearson's correlation with the throughput over the session", (c) => Math.abs(c.r), (c) => (Number.isFinite(c.r) ? showR(c.r) : "")));
  return out;
}

/** bucketsOf are the buckets of the window, or all. */
function bucketsOf(app: App, st: State): [number, number] {
  const b = app.data.bands;
  return st.to > 0 ? [Math.floor(st.from / b.bucket_ns), Math.min(b.buckets, Math.ceil(st.to / b.bucket_ns))] : [0, b.buckets];
}

function compare(app: App, st: State): Compared[] {
  const { monitors } = app.data.vertical!;
  const [from, to] = bucketsOf(app, st);
  const finished = monitors.find((m) => m.name === throughput);
  return monitors.map((m) => {
    const values = valuesOf(m);
    const sums = [{ n: 0, sum: 0, squares: 0 }, { n: 0, sum: 0, squares: 0 }];
    values.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      const s = sums[st.to > 0 && i >= from && i < to ? 1 : 0]!;
      s.n++;
      s.sum += v;
      s.squares += v * v;
    });
    const [out, inn] = sums as [typeof sums[0], typeof sums[0]];
    const outside = out.sum / out.n;
    const inside = inn.sum / inn.n;
    const spread = Math.sqrt(Math.max(0, out.squares / out.n - outside * outside + (inn.n ? inn.squares / inn.n - inside * inside : 0)));
    const effect = spread > 0 ? (inside - outside) / spread : inside === outside ? 0 : NaN;
    return { m, inside, outside, effect, r: finished && finished !== m ? pearson(values, valuesOf(finished), 0, values.length).r : NaN };
  });
}

// matrixPanel is the correlation of the chosen monitors.
function matrixPanel(app: App): { el: HTMLElement; update(st: State): void } {
  const body = h("div");
  const about = note();
  const el = h("section", { class: "panel", id: "correlation" }, h("h2", null, "How they go together"), about, body);
  const update = (st: State) => {
    const list = chosenMonitors(app);
    const [from, to] = bucketsOf(app, st);
    const each = `${plural(to - from, "stretch", "stretches")} of ${formatNs(app.data.bands.bucket_ns)}${st.to > 0 ? " in the window" : ""}`;
    about.textContent = list.length < 2
      ? `Choose two to ${mostChosen} monitors in the table above.`
      : `A dot for each of ${each}; above the diagonal Pearson's r. shadow vertical --matrix computes it from single samples.`;
    replace(body, list.length < 2 ? null : matrix(list, from, to));
  };
  return { el, update };
}
