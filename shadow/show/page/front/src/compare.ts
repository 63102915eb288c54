// Two sessions side by side.
import { shortOf, titleOf, type App } from "./app";
import { readData } from "./columns";
import type { Row, Tasks } from "./cube";
import type { Compared, ComparedRow, Data, Name } from "./data";
import { DistributionFigure } from "./distribution";
import { h, note, replace, select, wide } from "./dom";
import { formatCount, formatNs, formatRatio, formatUnit } from "./format";
import { addressOf, ask, storedSessions } from "./liveapi";
import { dimensions, type Dimension, type State } from "./state";
import { Table, type ColumnOf } from "./tables";
import { swatch } from "./theme";
import type { Shown } from "./views";

interface Pair { name: Name; a: Row | undefined; b: Row | undefined }

/** compareView makes the view. */
export function compareView(app: App): Shown {
  const holder = h("div", { class: "compare", id: "compare" });
  const load = loader(app, () => show());
  const show = () => {
    replace(holder, h("section", { class: "panel" }, h("h2", null, "Compare two sessions"), load.el, app.other ? sessions(app.data, app.other.data) : null));
    if (app.data.compared) holder.append(verdicts(app.data.compared));
    if (app.other) holder.append(new Pairs(app, app.other.data, app.other.tasks).el);
  };
  show();
  load.start(app.state);
  let before = app.state;
  return {
    els: [holder],
    update: (st) => {
      if (st.with !== before.with) load.start(st);
      else if (JSON.stringify(st) !== JSON.stringify(before)) show();
      before = st;
    },
  };
}

const mostListed = 200;

// loader lets one choose the other session, where there is a shadow to ask.
function loader(app: App, loaded: () => void): { el: HTMLElement; start: (st: State) => void } {
  const el = h("div");
  const { source } = document.documentElement.dataset;
  if (!source) {
    if (!app.other) el.append(note("To compare two sessions, write both into one page: shadow report A B -o FILE.html. Or open one of them under shadow serve, and choose the other here."));
    return { el, start: () => undefined };
  }
  const status = h("p", { class: "note", role: "status" });
  let asked = "";
  const failed = (e: unknown) => { status.textContent = `Cannot load this: ${e instanceof Error ? e.message : String(e)}.`; };
  const start = (st: State) => {
    if (!st.with || st.with === asked) return;
    asked = st.with;
    status.textContent = "The shadow reads the session…";
    ask(addressOf(st.with) + "/data.json").then((r) => r.text()).then((json) => {
      if (asked !== st.with) return;
      app.compare(readData(json));
      status.textContent = "";
      loaded();
    }).catch(failed);
  };
  storedSessions("", mostListed).then(({ rows }) => {
    const others = rows.filter((s) => addressOf(s.id) + "/data.json" !== source);
    const options = others.map((s) => ({ value: s.id, text: [s.name || s.session, s.program].filter(Boolean).join(", ") }));
    replace(el, options.length ? select("Compare with", [{ value: "", text: "choose a session" }, ...options], app.state.with, (v) => app.store.set({ with: v }), "with")
      : note("The store has no other session."), status);
  }).catch(failed);
  el.append(status);
  return { el, start };
}

function sessions(a: Data, b: Data): HTMLElement {
  const rows: [string, string, string, string][] = [
    ["program", a.session.program, b.session.program, ""],
    ["JVM", a.session.jvm, b.session.jvm, ""],
    ["collector", a.session.collector, b.session.collector, ""],
    ["machine", `${a.session.cpus} CPUs, ${a.session.host}`, `${b.session.cpus} CPUs, ${b.session.host}`, ""],
    ["duration", formatNs(a.session.duration_ns), formatNs(b.session.duration_ns), formatRatio(b.session.duration_ns / a.session.duration_ns)],
  ];
  for (const c of a.session.counts) {
    const other = b.session.counts.find((x) => x.label === c.label);
    rows.push([c.label, formatCount(c.value), other ? formatCount(other.value) : "n/a", other ? formatRatio(other.value / c.value) : ""]);
  }
  const [pa, pb] = [a, b].map((d) => d.bands.pauses.by_slot.reduce((n, v) => n + v, 0));
  rows.push(["stopped for the collector", formatNs(pa!), formatNs(pb!), formatRatio(pb! / pa!)]);
  return wide("Both sessions", h("table", { class: "legend-table" },
    h("thead", null, h("tr", null, h("td"), h("th", { scope: "col", class: "number" }, "A: " + a.session.name), h("th", { scope: "col", class: "number" }, "B: " + b.session.name), h("th", { scope: "col", class: "number" }, "B / A"))),
    h("tbody", null, ...rows.map(([what, x, y, ratio]) => h("tr", null, h("th", { scope: "row" }, what), h("td", { class: "number" }, x), h("td", { class: "number" }, y), h("td", { class: "number" }, ratio.replace("n/a", "–")))))));
}

// verdicts is what shadow diff says, with the verdicts of repeated runs.
function verdicts(c: Compared): HTMLElement {
  const cells = (r: ComparedRow) => [r.figure, r.a, r.b, r.change, r.interval, r.effect].map((text, i) => h("td", i ? { class: "number" } : null, text));
  const verdict = (r: ComparedRow) => h("td", null, r.different ? h("strong", null, r.verdict) : r.verdict);
  const heads = ["by", "name", "figure", "A", "B", "change", "95 % interval", "effect", "verdict"];
  return h("section", { class: "panel", id: "compared" }, h("h2", null, "Is it more than noise?"), h("p", null, c.sentence),
    ...c.cautions.map((text) => note("Caution: " + text + ".")), note(`A: ${c.a}. B: ${c.b}.`),
    wide("What shadow diff says", h("table", { class: "legend-table" },
      h("thead", null, h("tr", null, ...heads.map((text, i) => h("th", { scope: "col", class: i > 2 && i < 8 ? "number" : "" }, text)))),
      h("tbody", null, ...c.rows.map((r) => h("tr", { "data-verdict": r.verdict }, h("td", null, r.name ? r.by : ""), r.name ? h("th", { scope: "row", title: r.name }, r.name) : h("td"), ...cells(r), verdict(r)))))));
}

class Pairs {
  readonly el = h("div", { class: "drill" });
  private readonly figure = new DistributionFigure();
  private readonly title = h("h2");

  constructor(private readonly app: App, private readonly dataB: Data, private readonly b: Tasks) {
    const st = app.state;
    const d: Dimension = (dimensions as readonly string[]).includes(st.kind) ? (st.kind as Dimension) : "class";
    const m = app.tasks.measureOf(st.measure);
    const mb = b.find(app.tasks.measures[m]?.key ?? "");
    const pairs = this.pairs(d, m, mb).filter((p) => st.platform || !p.name.platform);
    const table = new Table<Pair>({
      id: "table-compare", label: "Both sessions by " + d, columns: this.columns(d, m, mb), sort: st.sort["compare"] || "-a.sum", height: 14, keyOf: (p) => p.name.name,
      onSort: (sort) => app.store.set({ sort: { ...app.state.sort, compare: sort } }, true), onRow: (p) => app.store.set({ name: p.name.name }),
      chosen: (p) => p.name.name === st.name,
    });
    table.setRows(pairs);
    const shown = pairs.find((p) => p.name.name === st.name) ?? [...pairs].sort((x, y) => (y.a?.sums[m]?.sum ?? 0) - (x.a?.sums[m]?.sum ?? 0))[0];
    this.el.append(h("section", { class: "panel" },
      h("div", { class: "panel-head" }, h("h2", null, "Both sessions"), select("By", dimensions.map((x) => ({ value: x, text: titleOf[x].one.toLowerCase() })), d, (kind) => app.store.set({ kind, name: "" }), "compare-by")),
      note("A follows the window; B is the whole session. Choose a row to compare its distributions below."), table.el));
    if (shown) this.curves(d, shown, m, mb);
  }

  private curves(d: Dimension, p: Pair, m: number, mb: number): void {
    const { tasks } = this.app;
    const q = tasks.queryOf(this.app.state);
    const all = { class: -1, executor: -1, site: -1, thread: -1 };
    this.title.textContent = shortOf(p.name);
    const curves = [];
    if (p.a) curves.push({ label: "A: " + this.app.data.session.name, spread: tasks.spreadOf({ ...q, only: { ...q.only, [d]: tasks.indexOf(d, p.name.name) } }, m), paint: { color: 1, shape: "solid" as const } });
    if (p.b && mb >= 0) curves.push({ label: "B: " + this.dataB.session.name, spread: this.b.spreadOf({ from: 0, to: this.dataB.slots, only: { ...all, [d]: this.b.indexOf(d, p.name.name) } }, mb), paint: { color: 2, shape: "diagonal" as const } });
    this.figure.set(curves, tasks.measures[m]!);
    this.el.append(h("section", { class: "panel" }, this.title, this.figure.el));
  }

  // pairs has the rows of both, by name.
  private pairs(d: Dimension, m: number, mb: number): Pair[] {
    const all = { class: -1, executor: -1, site: -1, thread: -1 };
    const rows = new Map<string, Pair>();
    for (const a of this.app.tasks.table(this.app.tasks.queryOf(this.app.state), d, [m])) if (a.name.name) rows.set(a.name.name, { name: a.name, a, b: undefined });
    for (const b of this.b.table({ from: 0, to: this.dataB.slots, only: all }, d, mb >= 0 ? [mb] : [])) {
      const pair = rows.get(b.name.name);
      if (pair) pair.b = b;
      else if (b.name.name) rows.set(b.name.name, { name: b.name, a: undefined, b });
    }
    return [...rows.values()];
  }

  private columns(d: Dimension, m: number, mb: number): ColumnOf<Pair>[] {
    const unit = this.app.tasks.measures[m]?.unit ?? "";
    const out: ColumnOf<Pair>[] = [{
      key: "name", title: titleOf[d].one.toLowerCase(), kind: "name", value: (p) => shortOf(p.name).toLowerCase(),
      cell: (p) => h("span", { title: p.name.name }, d === "class" ? swatch(this.app.classPaint(p.name.name)) : null, p.a ? h("a", { href: this.app.link(d, p.name.name) }, shortOf(p.name)) : shortOf(p.name)),
    }];
    const figure = (key: string, group: string, a: (r: Row) => number, b: (r: Row) => number, format: (v: number) => string) => {
      const of = (r: Row | undefined, f: (r: Row) => number) => (r ? f(r) : NaN);
      const cell = (v: number, f = format) => (Number.isFinite(v) ? f(v) : h("span", { class: "zero" }, "–"));
      const ratio = (p: Pair) => of(p.b, b) / of(p.a, a);
      out.push(
        { key: "a." + key, title: "A", group, kind: "number", width: 5.2, value: (p) => of(p.a, a), cell: (p) => cell(of(p.a, a)) },
        { key: "b." + key, title: "B", group, kind: "number", width: 5.2, value: (p) => of(p.b, b), cell: (p) => cell(of(p.b, b)) },
        { key: "r." + key, title: "B / A", group, kind: "number", width: 4.4, value: (p) => (Number.isFinite(ratio(p)) ? ratio(p) : NaN), cell: (p) => cell(ratio(p), formatRatio) });
    };
    figure("count", "count", (r) => r.count, (r) => r.count, formatCount);
    const value = (v: number) => formatUnit(v, unit);
    const sum = (i: number) => (r: Row) => (r.sums[i]?.known ? r.sums[i].sum : NaN);
    const mean = (i: number) => (r: Row) => (r.sums[i]?.known ? r.sums[i].sum / r.sums[i].known : NaN);
    const label = this.app.tasks.measures[m]?.label ?? "";
    figure("sum", label + ", sum", sum(m), sum(mb), value);
    figure("mean", "mean", mean(m), mean(mb), value);
    figure("p50", "median", (r) => r.p50[m] ?? NaN, (r) => r.p50[mb] ?? NaN, value);
    figure("p99", "99 %", (r) => r.p99[m] ?? NaN, (r) => r.p99[mb] ?? NaN, value);
    return out;
  }
}
