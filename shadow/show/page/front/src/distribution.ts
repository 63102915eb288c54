// Distributions: the share of tasks up to a value, on a logarithmic axis, with a box below
// for each row.
import uPlot from "uplot";
import { buckets, lowestOf } from "./columns";
import { boxOf, type Spread } from "./cube";
import type { Measure } from "./data";
import { h, replace, s, wide } from "./dom";
import { formatCount, formatPercent, formatUnit } from "./format";
import { colorOf, onTheme, swatch, token, type Paint } from "./theme";
import { hideTip, showTip, tipTable, type TipRow } from "./tip";

/** Curve is a row of a distribution. */
export interface Curve { label: string; spread: Spread; paint: Paint }

const left = 48;
const right = 18;
const boxHeight = 26;
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

/** DistributionFigure draws curves and boxes. */
export class DistributionFigure {
  readonly el: HTMLElement;
  private readonly plot = h("div", { class: "plot" });
  private readonly boxes = h("div");
  private readonly legend = h("div", { class: "legend" });
  private readonly table = h("div");
  private u: uPlot | undefined;
  private curves: Curve[] = [];
  private measure: Measure | undefined;
  private width = 0;

  constructor() {
    this.plot.setAttribute("role", "img");
    this.el = h("figure", { id: "distribution" }, this.legend, this.plot, this.boxes,
      h("figcaption", null, "The share of tasks with at most this value. The further to the left a curve rises, the shorter its tasks. A box holds the middle half; its line is the median, the ring the mean. Whiskers reach to the last value within 1.5 lengths of the box; the dots are tasks beyond."),
      this.table);
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (!this.el.isConnected || this.plot.clientWidth === this.width) return;
      this.width = this.plot.clientWidth;
      this.draw();
    })).observe(this.plot);
    this.plot.addEventListener("pointermove", (e) => this.tip(e));
    this.plot.addEventListener("pointerleave", hideTip);
    onTheme(() => { if (this.el.isConnected) this.draw(); });
  }

  /** set takes what is shown. */
  set(curves: Curve[], measure: Measure): void {
    this.curves = curves.filter((c) => c.spread.known > 0);
    this.measure = measure;
    replace(this.legend, ...(this.curves.length > 1 ? this.curves.map((c) => h("span", { class: "key" }, swatch(c.paint), h("span", null, c.label))) : []));
    this.plot.setAttribute("aria-label", `${measure.label}: ` + this.curves.map((c) => {
      const b = boxOf(c.spread)!;
      return `${c.label}, median ${formatUnit(b.p50, measure.unit)}, 99 % below ${formatUnit(b.p99, measure.unit)}, at most ${formatUnit(b.max, measure.unit)}, whiskers from ${formatUnit(b.low, measure.unit)} to ${formatUnit(b.high, measure.unit)}, ${formatCount(b.beyond)} beyond`;
    }).join("; "));
    this.showTable();
    this.draw();
  }

  // bounds are the powers of ten around all values.
  private bounds(): [number, number] {
    const low = Math.min(...this.curves.map((c) => Math.max(1, boxOf(c.spread)!.min)));
    const high = Math.max(...this.curves.map((c) => c.spread.max), low * 2);
    const floor = 10 ** Math.floor(Math.log10(low) + 1e-9);
    return [low / floor > 4 ? floor * 2 : floor, high * 1.15];
  }

  private draw(): void {
    this.u?.destroy();
    this.u = undefined;
    replace(this.boxes);
    if (!this.curves.length || !this.measure) {
      this.boxes.append(h("p", { class: "note" }, "No task here has a value of this measure."));
      return;
    }
    if (!this.width) return;
    const [min, max] = this.bounds();
    const unit = this.measure.unit;
    const first = Math.min(...this.curves.map((c) => c.spread.low));
    const last = Math.max(...this.curves.map((c) => c.spread.high));
    const xs: number[] = [min];
    for (let b = first; b <= last; b++) xs.push(Math.max(min * 1.0001, b + 1 < buckets ? lowestOf(b + 1) : lowestOf(b)));
    // Values are whole: a bucket ends where the next one begins.
    const ys = this.curves.map((c) => {
      let sum = 0;
      const out = [0];
      for (let b = first; b <= last; b++) out.push((sum += c.spread.hist[b]!) / c.spread.known);
      return out;
    });
    const font = token("figure-font");
    const grid = { stroke: token("grid"), width: 1 };
    const ticks = decades(min, max, this.width);
    this.u = new uPlot({
      width: this.width, height: 250, padding: [8, right, 0, 0], legend: { show: false }, cursor: { show: false }, pxAlign: 1,
      scales: { x: { time: false, distr: 3, range: () => [min, max] }, y: { range: () => [0, 1] } },
      axes: [
        { stroke: token("muted"), font, grid, ticks: { show: false }, size: 26, gap: 4, splits: () => ticks, filter: (_u, v) => v, values: (_u, v) => v.map((x) => formatUnit(x, unit).replace(/\.0+ /, " ").replace(/\.00?$/, "")) },
        { stroke: token("muted"), font, grid, ticks: { show: false }, size: left, gap: 6, splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_u, v) => v.map((y) => Math.round(y * 100) + " %") },
      ],
      series: [{}, ...this.curves.map((c, i) => ({ stroke: colorOf(c.paint), width: 2, dash: dashes[i % dashes.length]!, points: { show: false } }))],
    }, [xs, ...ys] as uPlot.AlignedData, this.plot);
    this.drawBoxes(min, max);
  }

  private drawBoxes(min: number, max: number): void {
    const inner = this.width - left - right;
    const x = (v: number) => left + (Math.log(Math.max(min, v) / min) / Math.log(max / min)) * inner;
    const height = this.curves.length * boxHeight + 6;
    const svg = s("svg", { class: "whole", width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" });
    this.curves.forEach((c, i) => {
      const b = boxOf(c.spread)!;
      const mid = i * boxHeight + boxHeight / 2 + 2;
      const color = `var(--c${c.paint.color})`;
      const line = (x1: number, x2: number, y1: number, y2: number, width = 1.5) => s("line", { x1, x2, y1, y2, stroke: color, "stroke-width": width });
      svg.append(
        line(x(b.low), x(b.p25), mid, mid), line(x(b.p75), x(b.high), mid, mid), line(x(b.low), x(b.low), mid - 4, mid + 4), line(x(b.high), x(b.high), mid - 4, mid + 4),
        ...b.outliers.map((v) => s("circle", { cx: x(v), cy: mid, r: 1.5, fill: color })),
        s("rect", { x: x(b.p25), y: mid - 8, width: Math.max(1, x(b.p75) - x(b.p25)), height: 16, rx: 2, fill: color, "fill-opacity": 0.22, stroke: color, "stroke-width": 1.5 }),
        line(x(b.p50), x(b.p50), mid - 8, mid + 8, 2.5), s("circle", { cx: x(b.mean), cy: mid, r: 3, fill: "var(--surface)", stroke: color, "stroke-width": 1.5 }));
    });
    this.boxes.append(svg);
  }

  private showTable(): void {
    const m = this.measure!;
    const head = ["", "tasks", "mean", "25 %", "median", "75 %", "99 %", "max", "sum"];
    const table = h("table", { class: "legend-table" }, h("thead", null, h("tr", null, ...head.map((t) => (t ? h("th", { class: "number", scope: "col" }, t) : h("td"))))));
    const body = h("tbody");
    for (const c of this.curves) {
      const b = boxOf(c.spread)!;
      const about = (v: number) => (b.rough ? "~" : "") + formatUnit(v, m.unit);
      const cells = [formatCount(c.spread.known), formatUnit(b.mean, m.unit), about(b.p25), about(b.p50), about(b.p75), about(b.p99), formatUnit(b.max, m.unit), formatUnit(c.spread.sum, m.unit)];
      body.append(h("tr", null, h("th", { scope: "row" }, swatch(c.paint), c.label), ...cells.map((t) => h("td", { class: "number" }, t))));
    }
    table.append(body);
    replace(this.table, this.curves.length ? wide("Figures of the distribution", table) : null);
  }

  private tip(e: PointerEvent): void {
    if (!this.u || !this.measure) return;
    const r = this.plot.getBoundingClientRect();
    const v = this.u.posToVal(e.clientX - r.left - left, "x");
    if (!(v > 0)) return hideTip();
    const rows = this.curves.map((c): TipRow => {
      let sum = 0;
      for (let b = c.spread.low; b <= c.spread.high && lowestOf(b) <= v; b++) sum += c.spread.hist[b]!;
      return [c.label, formatPercent(sum / c.spread.known)];
    });
    showTip(e.clientX, e.clientY, ...tipTable("at most " + formatUnit(v, this.measure.unit), rows));
  }
}

// decades are powers of ten, with 2 and 5 between them where there is room.
function decades(min: number, max: number, width: number): number[] {
  const each = width / Math.max(1, Math.log10(max / min));
  const steps = each > 260 ? [1, 2, 5] : [1];
  const skip = Math.max(1, Math.ceil(70 / each));
  const out: number[] = [];
  const first = Math.floor(Math.log10(min));
  for (let e = first; 10 ** e <= max; e++) {
    if ((e - first) % skip) continue;
    for (const m of steps) if (m * 10 ** e >= min && m * 10 ** e <= max) out.push(m * 10 ** e);
  }
  return out;
}
