// What tasks waited for: where the time of each class went, and what was waited for longest.
import { missing, shortOf, type App } from "./app";
import { noName } from "./columns";
import type { Virtual, WaitRow, Waits } from "./data";
import { h, note, replace } from "./dom";
import { formatCount, formatNs, plural } from "./format";
import { stackedBar, type Part } from "./parts";
import type { State } from "./state";
import { Table, type ColumnOf } from "./tables";
import { paintOf, swatch } from "./theme";
import type { Shown } from "./views";

/** waitParts are the parts of the time of a class in the window; class -1: of all. */
export function waitParts(app: App, w: Waits, classIndex: number, st: State): Part[] {
  const n = w.parts.length;
  const sums = new Float64Array(n);
  const [from, to] = w.by_slot ? app.tasks.slots(st.from, st.to) : [0, 1];
  for (let i = 0; i < w.class.length; i++) {
    if (classIndex >= 0 && w.class[i] !== classIndex) continue;
    if (w.slot[i]! < from || w.slot[i]! >= to) continue;
    for (let k = 0; k < n; k++) sums[k]! += w.parted[i * n + k]!;
  }
  return w.parts.map((label, k) => ({ label, value: sums[k]! }));
}

/** sumOf is the sum of parts. */
export function sumOf(parts: Part[]): number { return parts.reduce((n, p) => n + p.value, 0); }

const most = 15;

/** waitsView makes the view. */
export function waitsView(app: App): Shown {
  const w = app.data.waits;
  if (!w) return { els: [h("section", { class: "panel", id: "waits" }, h("h2", null, "Waits"), missing(app.data, "waits", "What tasks waited for is")), ...virtualThreads(app)], update: () => undefined };
  const bars = h("div", { class: "wait-bars" });
  const about = note();
  const table = waitTable(w);
  const update = (st: State) => {
    const only = st.filters.class ? app.tasks.indexOf("class", st.filters.class) : -1;
    const classes = [...new Set(w.class)].filter((c) => only < 0 || c === only)
      .map((c) => ({ c, parts: waitParts(app, w, c, st) })).map((x) => ({ ...x, sum: sumOf(x.parts) })).filter((x) => x.sum > 0)
      .sort((a, b) => b.sum - a.sum);
    // If nothing but the platform ran here, it is what there is to see.
    const own = classes.filter((x) => st.platform || !app.tasks.nameAt("class", x.c).platform);
    const shown = (own.length ? own : classes).slice(0, most);
    const widest = Math.max(...shown.map((x) => x.sum), 1);
    replace(bars, ...shown.flatMap(({ c, parts, sum }) => {
      const name = app.tasks.nameAt("class", c);
      const holder = h("div", null, stackedBar(parts, sum, 20));
      holder.style.width = Math.max(3, (sum / widest) * 100) + "%";
      return [c === noName ? h("span", { class: "quiet" }, name.short) : h("a", { href: app.link("class", name.name), title: name.name }, shortOf(name)), holder, h("span", { class: "number" }, formatNs(sum))];
    }));
    if (!shown.length) bars.append(note("No task ended in this window."));
    about.textContent = (w.by_slot ? "" : "These figures are of the whole session: they do not follow the window. ") +
      (classes.length > shown.length ? `${plural(classes.length - shown.length, "class", "classes")} omitted.` : "");
  };
  update(app.state);
  return {
    els: [
      h("section", { class: "panel", id: "waits" }, h("h2", null, "Where the time of tasks went"),
        h("p", { class: "note" }, "From the start to the end of each task, added up by class. The length of a bar is the sum."),
        h("div", { class: "legend" }, ...w.parts.map((p) => h("span", { class: "key", title: p.doc }, swatch(paintOf(p.key)), h("span", null, p.label)))), bars, about),
      h("section", { class: "panel" }, h("h2", null, "What was waited for"),
        note("Over the whole session, the longest waited for first." + (w.more > 0 ? ` ${plural(w.more, "row", "rows")} omitted.` : "")), table.el),
      ...virtualThreads(app),
    ],
    update,
  };
}

// virtualThreads are of the whole session.
function virtualThreads(app: App): HTMLElement[] {
  const rows = app.data.virtual;
  if (!rows.length) return [];
  const figure = (key: keyof Virtual, title: string, doc: string, format: (v: number) => string): ColumnOf<Virtual> => ({
    key, title, doc, kind: "number", value: (r) => (Number(r[key]) < 0 ? NaN : Number(r[key])), cell: (r) => (Number(r[key]) < 0 ? "–" : format(Number(r[key]))),
  });
  const table = new Table<Virtual>({
    id: "table-virtual", label: "Virtual threads", sort: "-threads", keyOf: (r) => r.class,
    columns: [
      { key: "class", title: "class of the tasks", kind: "name", value: (r) => r.class, cell: (r) => text(r.class) },
      figure("threads", "threads", "Virtual threads", formatCount), figure("mounts", "mounts", "How often they were put on a carrier", formatCount),
      figure("changes", "changes", "Mounts on another carrier than before", formatCount), figure("away_ns", "away", "Not on a carrier: parked, or ready and waiting for one", formatNs),
      figure("ready_ns", "ready", "Ready, and waiting for a carrier", formatNs), figure("most_ready_ns", "longest", "The longest wait for a carrier", formatNs),
      figure("pins", "pins", "How often they blocked while pinned to their carrier", formatCount), figure("pinned_ns", "pinned", "Blocked while pinned", formatNs),
    ],
  });
  table.setRows(rows);
  return [h("section", { class: "panel", id: "virtual" }, h("h2", null, "Virtual threads"), note("Of the whole session, by class of their tasks."), table.el)];
}

function waitTable(w: Waits): Table<WaitRow> {
  const table = new Table<WaitRow>({
    id: "table-waits", label: "What was waited for", sort: "-waited", height: 14, keyOf: (r) => r.for + " " + r.class, empty: "No waits were recorded.",
    columns: [
      { key: "class", title: "object", kind: "name", value: (r) => r.class || r.for, cell: (r) => text(r.class || "–") },
      { key: "for", title: "waited for", kind: "text", value: (r) => r.for, cell: (r) => h("span", { class: "with-swatch" }, swatch(paintOf(r.for)), r.for) },
      { key: "site", title: "at", kind: "text", value: (r) => r.site, cell: (r) => text(r.site) },
      { key: "waited", title: "waited", kind: "number", value: (r) => r.waited_ns, cell: (r) => formatNs(r.waited_ns) },
      { key: "waits", title: "times", kind: "number", value: (r) => r.waits, cell: (r) => formatCount(r.waits) },
      { key: "mean", title: "mean", kind: "number", value: (r) => r.waited_ns / Math.max(1, r.waits), cell: (r) => formatNs(r.waited_ns / Math.max(1, r.waits)) },
      { key: "max", title: "longest", kind: "number", value: (r) => r.max_ns, cell: (r) => formatNs(r.max_ns) },
      { key: "held", title: "held by", kind: "text", value: (r) => r.held_by, cell: (r) => text(r.held_by) },
      { key: "ended", title: "ended by", kind: "text", value: (r) => r.ended_by, cell: (r) => text(r.ended_by) },
    ],
  });
  table.setRows(w.rows);
  return table;
}

function text(s: string): HTMLElement { return h("span", { title: s }, s); }
