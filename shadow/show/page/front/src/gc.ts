// The collector's pauses in the window.
import { missing, type App } from "./app";
import { h, note, replace, s } from "./dom";
import { formatAt, formatCount, formatNs, formatPercent } from "./format";
import type { State } from "./state";
import { Table } from "./tables";
import type { Shown } from "./views";

interface Pause { from: number; ns: number }

/** tile is a figure with what it is. */
export function tile(value: string, what: string): HTMLElement { return h("div", { class: "tile" }, h("b", null, value), h("span", null, what)); }

/** gcView makes the view. */
export function gcView(app: App): Shown {
  const { pauses } = app.data.bands;
  if (!pauses.count && app.data.missing["gc"]) {
    return { els: [h("section", { class: "panel", id: "gc" }, h("h2", null, "Garbage collection"), missing(app.data, "gc", "Pauses are"))], update: () => undefined };
  }
  const tiles = h("div", { class: "tiles" });
  const figure = h("figure");
  const about = note();
  const table = new Table<Pause>({
    id: "table-gc", label: "Pauses", sort: "-ns", height: 12, keyOf: (p) => String(p.from), empty: "No pause in this window.",
    onRow: (p) => app.store.set({ zoomFrom: Math.max(0, p.from - p.ns * 5), zoomTo: p.from + p.ns * 6 }),
    columns: [
      { key: "from", title: "at", kind: "number", value: (p) => p.from, cell: (p) => formatAt(p.from, 1e6) },
      { key: "ns", title: "length", kind: "number", value: (p) => p.ns, cell: (p) => formatNs(p.ns) },
    ],
  });
  const update = (st: State) => {
    const [a, b] = app.tasks.slots(st.from, st.to);
    const [from, to] = [a * app.data.slot_ns, b * app.data.slot_ns];
    const list: Pause[] = [];
    pauses.from.forEach((at, i) => { if (at + pauses.ns[i]! > from && at < to) list.push({ from: at, ns: pauses.ns[i]! }); });
    let stopped = 0;
    for (let slot = a; slot < b; slot++) stopped += pauses.by_slot[slot] ?? 0;
    const sorted = list.map((p) => p.ns).sort((x, y) => x - y);
    const at = (p: number) => sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? NaN;
    replace(tiles, tile(st.to > 0 ? formatCount(list.length) : formatCount(pauses.count), "pauses"), tile(formatPercent(stopped / Math.max(1, Math.min(to, app.data.session.duration_ns) - from)), "of the time stopped"),
      tile(formatNs(stopped), "stopped"), ...(sorted.length ? [tile(formatNs(at(0.5)), "median pause"), tile(formatNs(at(1)), "longest pause")] : []));
    replace(figure, sorted.length ? histogram(sorted) : null);
    about.textContent = pauses.count > pauses.from.length ? `The ${formatCount(pauses.from.length)} longest of ${formatCount(pauses.count)} pauses are here.` : "";
    table.setRows(list);
  };
  update(app.state);
  return {
    els: [h("section", { class: "panel", id: "gc" }, h("h2", null, "Garbage collection"), tiles, about),
      h("div", { class: "grid2" }, h("section", { class: "panel" }, h("h2", null, "How long pauses are"), figure), h("section", { class: "panel" }, h("h2", null, "The pauses"), table.el))],
    update,
  };
}

// histogram has a bar for each third of a power of ten.
function histogram(sorted: number[]): SVGSVGElement {
  const binOf = (v: number) => Math.floor(Math.log10(Math.max(1, v)) * 3 + 1e-9);
  const first = binOf(sorted[0]!);
  const counts = new Array<number>(binOf(sorted[sorted.length - 1]!) - first + 1).fill(0);
  for (const v of sorted) counts[binOf(v) - first]!++;
  const most = Math.max(...counts);
  const [width, height] = [560, counts.length * 30 + 6];
  const svg = s("svg", { class: "whole", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Pauses by length: " + counts.map((n, i) => `${n} from ${formatNs(10 ** ((first + i) / 3))}`).join(", ") });
  counts.forEach((n, i) => {
    const y = i * 30 + 4;
    svg.append(s("text", { x: 78, y: y + 16, "text-anchor": "end", class: "quiet" }, "from " + formatNs(10 ** ((first + i) / 3))),
      s("rect", { x: 86, y: y + 2, width: (n / most) * (width - 150), height: 20, rx: 2, fill: "var(--c4)" }), s("text", { x: 94 + (n / most) * (width - 150), y: y + 16 }, formatCount(n)));
  });
  return svg;
}
