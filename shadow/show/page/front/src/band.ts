// A band is a figure over time: stacked areas, or lines, on an axis that all bands share.
import uPlot from "uplot";
import { button, h, replace } from "./dom";
import { canvasFill, colorOf, paintOf, swatch, token, type Paint } from "./theme";

/** The space left and right of all bands, in pixels, so that their axes are one. */
export const gutter = { left: 58, right: 14 };

/** BandSeries is an area or line of a band. */
export interface BandSeries {
  key: string;
  label: string;
  values: ArrayLike<number>;
  paint?: Paint;
  /** A line over the areas, not stacked. */
  line?: boolean;
}

/** BandOptions say what a band shows. */
export interface BandOptions {
  id: string;
  title: string;
  doc?: string;
  height: number;
  format: (v: number) => string;
  /** The ticks of the time axis, for the vertical lines. */
  ticks?: (from: number, to: number) => number[];
  /** Switched on or off by the legend. */
  onToggle?: (key: string, hidden: boolean) => void;
  /** The least height of the axis. */
  least?: number;
}

/** Band draws series over time. The values of bucket i are from x[i] to x[i+1]. */
export class Band {
  readonly el: HTMLElement;
  private readonly plot = h("div", { class: "plot" });
  private readonly legend = h("div", { class: "legend" });
  private u: uPlot | undefined;
  private x: ArrayLike<number> = [];
  private series: BandSeries[] = [];
  private hidden = new Set<string>();
  private range: [number, number] = [0, 1];
  private width = 0;

  constructor(readonly o: BandOptions) {
    this.el = h("div", { class: "band", id: "band-" + o.id, role: "group", "aria-label": o.title },
      h("div", { class: "band-head" }, h("h3", { title: o.doc }, o.title), this.legend),
      this.plot);
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", o.title);
    this.plot.style.height = o.height + "px";
  }

  /** The series in sight, for a tip. */
  visible(): BandSeries[] { return this.series.filter((s) => !this.hidden.has(s.key)); }

  /** setData takes series. x has a value more than they: the end. */
  setData(x: ArrayLike<number>, series: BandSeries[]): void {
    const same = series.length === this.series.length && series.every((s, i) => s.key === this.series[i]!.key);
    this.x = x;
    this.series = series;
    this.plot.setAttribute("aria-label", this.o.title + ": " + (series.map((s) => s.label).join(", ") || "nothing"));
    this.showLegend();
    if (same && this.u) this.u.setData(this.stacked(), false), this.rescale();
    else this.draw();
  }

  /** setHidden switches series off. */
  setHidden(keys: Iterable<string>): void {
    const next = new Set(keys);
    if (next.size === this.hidden.size && [...next].every((k) => this.hidden.has(k))) return;
    this.hidden = next;
    this.showLegend();
    this.draw();
  }

  /** setRange is the part of the time axis in sight. */
  setRange(from: number, to: number): void {
    if (this.range[0] === from && this.range[1] === to) return;
    this.range = [from, to];
    this.rescale();
  }

  /** setWidth is the width in pixels, with the gutters. */
  setWidth(width: number): void {
    if (width === this.width || width <= 0) return;
    this.width = width;
    if (this.u) this.u.setSize({ width, height: this.o.height });
    else this.draw();
  }

  /** redraw is for new colours. */
  redraw(): void {
    this.showLegend();
    this.draw();
  }

  private rescale(): void {
    this.u?.setScale("x", { min: this.range[0], max: this.range[1] });
  }

  private showLegend(): void {
    replace(this.legend, ...this.series.map((s) => {
      const off = this.hidden.has(s.key);
      const b = button(null, () => {
        const hide = !this.hidden.has(s.key);
        if (this.o.onToggle) this.o.onToggle(s.key, hide);
        else this.setHidden(hide ? [...this.hidden, s.key] : [...this.hidden].filter((k) => k !== s.key));
      }, { class: "key", "aria-pressed": String(!off), "data-key": s.key, title: s.label });
      b.append(swatch(s.paint ?? paintOf(s.key)), h("span", null, s.label));
      return b;
    }));
  }

  // stacked is the data of uPlot: the highest sum first, so that each area covers the lower
  // part of those before it.
  private stacked(): uPlot.AlignedData {
    const n = this.x.length;
    const areas = this.visible().filter((s) => !s.line);
    const sums: Float64Array[] = [];
    const last = new Float64Array(n);
    for (const s of areas) {
      for (let i = 0; i < n; i++) last[i]! += s.values[Math.min(i, s.values.length - 1)] || 0;
      sums.push(last.slice());
    }
    // uPlot takes null for a gap; NaN would be the end of its scale.
    const lines = this.visible().filter((s) => s.line).map((s) => Array.from({ length: n }, (_, i) => {
      const v = s.values[Math.min(i, s.values.length - 1)];
      return v === undefined || Number.isNaN(v) ? null : v;
    }));
    return [Float64Array.from(this.x), ...sums.reverse(), ...lines] as unknown as uPlot.AlignedData;
  }

  private draw(): void {
    if (!this.width || !this.x.length) return;
    this.u?.destroy();
    const areas = this.visible().filter((s) => !s.line).reverse();
    const lines = this.visible().filter((s) => s.line);
    const steps = uPlot.paths.stepped!({ align: 1 });
    const paint = (s: BandSeries) => s.paint ?? paintOf(s.key);
    const grid = { stroke: token("grid"), width: 1 };
    const font = token("figure-font");
    this.u = new uPlot({
      width: this.width, height: this.o.height, padding: [6, gutter.right, 0, 0],
      legend: { show: false }, cursor: { show: false }, pxAlign: 1,
      scales: {
        x: { time: false, range: () => this.range },
        y: { range: (_u, _min, max) => [0, Math.max((Number.isFinite(max) ? max : 0) * 1.06, this.o.least ?? 0) || 1] },
      },
      axes: [
        { show: true, size: 7, values: () => [], ticks: { show: false }, grid, splits: (_u, _a, from, to) => this.o.ticks?.(from, to) ?? [] },
        { size: gutter.left, stroke: token("muted"), font, gap: 6, ticks: { show: false }, grid, space: this.o.height < 70 ? 16 : 26, values: (_u, v) => v.map((y) => this.o.format(y)) },
      ],
      series: [
        {},
        ...areas.map((s) => ({ paths: steps, points: { show: false }, width: 0, fill: () => canvasFill(paint(s)) })),
        ...lines.map((s) => ({ paths: steps, points: { show: false }, width: 1.5, stroke: colorOf(paint(s)) })),
      ],
    }, this.stacked(), this.plot);
  }
}

/** timeTicks are round times between from and to, about a tick for every so many pixels. */
export function timeTicks(from: number, to: number, width: number): number[] {
  const rough = (to - from) / Math.max(2, width / 110);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough) ?? rough;
  const ticks: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) ticks.push(t);
  return ticks;
}
