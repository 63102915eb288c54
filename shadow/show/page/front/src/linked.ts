// The tables of classes, executors, call sites and threads. Each shows what the window and
// the filters by the other tables leave.
import { shortOf, titleOf, type App, atMost } from "./app";
import type { Row } from "./cube";
import { append, button, h, replace } from "./dom";
import { formatCount, formatExact, formatNs, formatPercent, formatUnit, plural } from "./format";
import type { Dimension, State } from "./state";
import { Table, type ColumnOf } from "./tables";
import { svgFill, swatch } from "./theme";
import { bar } from "./verdict";

/** Linked is the table of a dimension. */
export class Linked {
  readonly el: HTMLElement;
  private readonly table: Table<Row>;
  private readonly foot = h("div", { class: "foot" });
  private readonly search = h("input", { type: "search", class: "table-find", name: "find" });
  private work = 0;
  private columnsFor = "";

  constructor(private readonly app: App, private readonly d: Dimension) {
    const { many } = titleOf[d];
    this.table = new Table<Row>({
      id: "table-" + d, label: many, columns: [], sort: app.state.sort[d] || "-share", height: 10,
      keyOf: (r) => r.name.name,
      onSort: (sort) => app.store.set({ sort: { ...app.state.sort, [d]: sort } }, true),
      onRow: (r) => this.filter(r),
      chosen: (r) => !!r.name.name && app.state.filters[d] === r.name.name,
      empty: `No ${many.toLowerCase()} here. Widen the window, or remove a filter.`,
    });
    this.search.setAttribute("placeholder", "Search " + many.toLowerCase());
    this.search.setAttribute("aria-label", "Search " + many.toLowerCase());
    this.search.addEventListener("input", () => app.store.set({ find: { ...app.state.find, [d]: this.search.value } }, true));
    this.el = h("section", { class: "panel", "data-table": d },
      h("div", { class: "panel-head" }, h("h2", null, many), this.search), this.table.el, this.foot);
    this.update(app.state);
  }

  private filter(r: Row): void {
    if (!r.name.name) return;
    const { filters } = this.app.state;
    this.app.store.set({ filters: { ...filters, [this.d]: filters[this.d] === r.name.name ? "" : r.name.name } });
  }

  /** update shows a state. */
  update(st: State): void {
    const { tasks } = this.app;
    const q = tasks.queryOf(st);
    const shown = [...new Set([0, tasks.measureOf(st.measure), tasks.find("wall"), tasks.find("queue")])].filter((m) => m >= 0 && m < tasks.measures.length);
    const all = tasks.table(q, this.d, shown);
    this.work = all.reduce((n, r) => n + (r.sums[0]?.sum ?? 0), 0);
    const find = (st.find[this.d] ?? "").toLowerCase();
    if (document.activeElement !== this.search) this.search.value = st.find[this.d] ?? "";
    // If nothing but the platform worked here, it is what there is to see.
    const only = all.every((r) => r.name.platform || !r.count);
    const own = all.filter((r) => st.platform || only || !r.name.platform);
    const rows = own.filter((r) => !find || r.name.name.toLowerCase().includes(find) || r.name.short.toLowerCase().includes(find));
    const columns = this.columns(st, all, tasks.whole(q, this.d));
    const key = columns.map((c) => c.key + c.title + c.group).join();
    if (key !== this.columnsFor) this.table.setColumns(columns);
    this.columnsFor = key;
    this.table.setSort(st.sort[this.d] || "-share");
    this.table.setRows(rows);
    this.showFoot(all, own, rows);
  }

  private showFoot(all: Row[], own: Row[], rows: Row[]): void {
    replace(this.foot);
    const { one, many } = titleOf[this.d];
    const hidden = all.filter((r) => r.name.platform);
    const work = hidden.reduce((n, r) => n + (r.sums[0]?.sum ?? 0), 0);
    if (own.length < all.length) {
      append(this.foot, h("span", { class: "note" },
        `${plural(hidden.length, one.toLowerCase(), many.toLowerCase())} of the platform hidden, with ${formatPercent(this.work ? work / this.work : 0)} of the work. `,
        button("Show", () => this.app.store.set({ platform: true }), { class: "button" })));
    }
    if (rows.length < own.length) append(this.foot, h("span", { class: "note" }, `${formatExact(rows.length)} of ${formatExact(own.length)} match.`));
    else if (own.length > 10) append(this.foot, h("span", { class: "note" }, plural(own.length, one.toLowerCase(), many.toLowerCase())));
    this.foot.hidden = !this.foot.childElementCount;
  }

  private columns(st: State, all: Row[], whole: boolean): ColumnOf<Row>[] {
    const { tasks } = this.app;
    const number = (key: string, title: string, doc: string, value: (r: Row) => number, format: (v: number, r: Row) => string, group?: string): ColumnOf<Row> => ({
      key, title, doc, kind: "number", value, ...(group ? { group } : {}),
      cell: (r) => {
        const v = value(r);
        return Number.isNaN(v) ? h("span", { class: "zero" }, "–") : v === 0 ? h("span", { class: "zero" }, format(v, r)) : format(v, r);
      },
    });
    const share: ColumnOf<Row> = {
      key: "share", title: "work", doc: `Share of the work: ${tasks.measures[0]?.label ?? ""}`, kind: "bar", value: (r) => r.sums[0]?.sum ?? 0,
      cell: (r) => {
        const part = this.work ? (r.sums[0]?.sum ?? 0) / this.work : 0;
        return h("span", { class: "inbar" }, bar(part, svgFill(this.d === "class" ? this.app.classPaint(r.name.name) : { color: 1, shape: "solid" })), h("span", null, formatPercent(part)));
      },
    };
    const kind: ColumnOf<Row> = { key: "kind", title: "kind", kind: "text", width: 7, value: (r) => r.name.kind, cell: (r) => r.name.kind };
    const out: ColumnOf<Row>[] = [this.nameColumn(), ...(this.d === "thread" ? [kind] : []), share,
      number("count", "count", `Number of ${tasks.cube.many}`, (r) => r.count, (v) => formatCount(v))];
    const chosen = tasks.measureOf(st.measure);
    const measure = (m: number, full: boolean) => {
      const { key, label, unit } = tasks.measures[m]!;
      const format = (v: number, r: Row, rough = false) => (rough && r.rough[m] ? "~" : "") + formatUnit(v, unit);
      const add = (k: string, title: string, doc: string, value: (r: Row) => number, rough = false) =>
        out.push(number(key + "." + k, title, `${label}: ${doc}`, (r) => (r.sums[m]?.known ? value(r) : NaN), (v, r) => format(v, r, rough), label));
      if (full) {
        add("sum", "sum", "sum", (r) => r.sums[m]!.sum);
        add("mean", "mean", "mean", (r) => r.sums[m]!.sum / r.sums[m]!.known);
      }
      add("p50", "median", "median; with ~, within 3 %", (r) => r.p50[m]!, true);
      add("p99", "99 %", "99 % of them were below; with ~, within 3 %", (r) => r.p99[m]!, true);
      if (full) add("max", "max", "the greatest", (r) => r.sums[m]!.max);
    };
    if (tasks.measures.length) measure(chosen, true);
    for (const key of ["wall", "queue"]) {
      const m = tasks.find(key);
      if (m >= 0 && m !== chosen) measure(m, false);
    }
    if (whole && all.some((r) => r.name.created > 0)) {
      out.push(number("created", "created", "Tasks created, in the whole session", (r) => known(r.name.created), (v) => formatCount(v)));
    }
    if (whole && all.some((r) => r.name.never > 0)) {
      out.push(number("never", "never run", "Tasks created and never executed, in the whole session", (r) => known(r.name.never), (v) => atMost(this.app.data) + formatCount(v)));
    }
    if (all.some((r) => r.threw > 0)) out.push(number("threw", "threw", "Ended by an exception", (r) => r.threw, (v) => formatCount(v)));
    if (this.d === "thread" && whole && all.some((r) => r.name.cpu_ns > 0)) {
      out.push(number("cpu", "all CPU", "All CPU time of the thread", (r) => known(r.name.cpu_ns), (v) => formatNs(v)));
    }
    return out;
  }

  private nameColumn(): ColumnOf<Row> {
    return {
      key: "name", title: titleOf[this.d].one.toLowerCase(), kind: "name", value: (r) => shortOf(r.name).toLowerCase(),
      cell: (r) => {
        const n = r.name;
        if (!n.name) return h("span", { class: "quiet" }, n.short);
        const cell = h("span", { title: n.name });
        if (this.d === "class") cell.append(swatch(this.app.classPaint(n.name)));
        cell.append(h("a", { href: this.app.link(this.d, n.name) }, shortOf(n)));
        return cell;
      },
    };
  }
}

function known(v: number): number { return v < 0 ? NaN : v; }

/** filtersBar has the window and the filters as chips, and what tables show. */
export class FiltersBar {
  readonly el = h("div", { id: "filters", role: "group", "aria-label": "Filters" });

  constructor(private readonly app: App) { this.update(app.state); }

  /** update shows a state. */
  update(st: State): void {
    const { store, tasks } = this.app;
    const chip = (id: string, what: string, value: string, remove: () => void) => {
      const b = button(null, remove, { class: "chip", "data-chip": id, "aria-label": `Remove the filter: ${what} ${value}` });
      b.append(h("span", { class: "value" }, `${what} ${value}`), h("span", { class: "x", "aria-hidden": "true" }, "×"));
      return b;
    };
    replace(this.el);
    if (st.to > 0) this.el.append(chip("window", "from", `${formatNs(st.from)} to ${formatNs(st.to)}`, () => store.set({ from: 0, to: 0 })));
    for (const d of ["class", "executor", "site", "thread"] as const) {
      if (!st.filters[d]) continue;
      const i = tasks.indexOf(d, st.filters[d]);
      this.el.append(chip(d, titleOf[d].one.toLowerCase(), i < 0 ? st.filters[d] + " (not in this session)" : shortOf(tasks.nameAt(d, i)),
        () => store.set({ filters: { ...st.filters, [d]: "" } })));
    }
    this.el.append(h("span", { class: "grow" }));
    if (st.view !== "overview" && st.view !== "compare") {
      this.el.hidden = this.el.childElementCount < 2;
      return;
    }
    this.el.hidden = false;
    if (tasks.measures.length > 1) {
      const s = h("select", { id: "measure", onchange: () => store.set({ measure: s.value }) });
      const now = tasks.measureOf(st.measure);
      tasks.measures.forEach((m, i) => s.append(h("option", { value: m.key, selected: i === now }, m.label)));
      this.el.append(h("label", { class: "choice", title: tasks.measures[now]?.doc ?? "" }, h("span", null, "Measure"), s));
    }
    if (st.view === "overview") {
      const box = h("input", { type: "checkbox", id: "platform", onchange: () => store.set({ platform: box.checked }) });
      box.checked = st.platform;
      this.el.append(h("label", { class: "check" }, box, "Platform classes"));
    }
  }
}
