// The last five minutes of a JVM, in the bands of a report.
import { Band, gutter, type BandSeries } from "./band";
import { h, replace } from "./dom";
import { formatPercent, formatRate } from "./format";
import type { JVM, Points, Series } from "./live";
import { setText } from "./livetable";
import { onTheme, paintOf, type Paint } from "./theme";
import { hideTip, showTip, tipTable, type TipRow } from "./tip";

const minute = 60e9;
const span = 5 * minute;

/** What a band shows: series by key, or by what their keys begin with. */
interface Plan {
  id: string;
  title: string;
  doc: string;
  height: number;
  format: (v: number) => string;
  areas: (key: string) => boolean;
  lines?: string[];
  paints?: Record<string, Paint>;
  least?: number;
  /** The key in missing. */
  missing: string;
}

const plans: Plan[] = [
  {
    id: "cpu", title: "CPUs in use", doc: "The mean number of CPUs in use in each second, by kind of thread.", height: 120, format: formatRate,
    areas: (k) => k.startsWith("cpu:"), missing: "cpu",
  },
  {
    id: "tasks", title: "Tasks per second", doc: "Tasks finished in each second. The lines are how many started, threw an exception and were rejected.", height: 110,
    format: formatRate, areas: (k) => k === "finished", lines: ["started", "threw", "rejected"], missing: "tasks",
    paints: { finished: { color: 6, shape: "solid" }, started: { color: 7, shape: "solid" }, threw: { color: 2, shape: "solid" }, rejected: { color: 4, shape: "solid" } },
  },
  {
    id: "running", title: "Running at once", doc: "The mean number of tasks that ran.", height: 80, format: formatRate, areas: (k) => k === "running", missing: "running",
    paints: { running: { color: 1, shape: "solid" } },
  },
  {
    id: "queued", title: "Waiting in queues", doc: "The mean number of tasks that waited for a thread.", height: 80, format: formatRate, areas: (k) => k === "queued",
    missing: "queued", paints: { queued: { color: 5, shape: "back" } },
  },
  {
    id: "gc", title: "Stopped for the collector", doc: "The share of each second in which the JVM was stopped.", height: 70, format: formatPercent,
    areas: (k) => k === "gc", missing: "gc", least: 0.02,
  },
];

/** LiveBands are the bands over each other. */
export class LiveBands {
  readonly el: HTMLElement;
  private readonly stack = h("div", { class: "stack" });
  private readonly ruler = h("div", { class: "ruler", "aria-hidden": "true" });
  private readonly bands = plans.map((plan) => ({
    plan,
    band: new Band({ id: plan.id, title: plan.title, doc: plan.doc, height: plan.height, format: plan.format, ticks: minutes, least: plan.least }),
    why: h("p", { class: "note", hidden: true, "data-missing": plan.missing }),
  }));
  private x = new Float64Array();
  private end = 0;

  constructor() {
    for (const b of this.bands) this.stack.append(b.band.el, b.why);
    this.el = h("section", { class: "panel live", id: "axis", "aria-labelledby": "axis-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "axis-title" }, "The last five minutes")), this.stack, this.ruler);
    replace(this.ruler, ...[5, 4, 3, 2, 1, 0].map((m) => {
      const label = h("span", null, m ? `−${m} min` : "now");
      label.style.left = (5 - m) * 20 + "%";
      return label;
    }));
    this.stack.addEventListener("pointermove", (e) => this.tip(e));
    this.stack.addEventListener("pointerleave", hideTip);
    new ResizeObserver(() => this.resize()).observe(this.stack);
    onTheme(() => this.bands.forEach((b) => b.band.redraw()));
  }

  /** update shows the series of a snapshot. */
  update(v: JVM): void {
    const all = (v.series as Series[] | null) ?? [];
    const n = Math.max(0, ...all.map((s) => s.values.length));
    this.end = v.end_ns;
    this.x = Float64Array.from({ length: n + 1 }, (_, i) => v.end_ns - (n - i) * v.bucket_ns);
    for (const { plan, band, why } of this.bands) {
      const series = [
        ...all.filter((s) => plan.areas(s.key)).map((s) => seriesOf(s, n, plan, false)),
        ...(plan.lines ?? []).flatMap((k) => all.filter((s) => s.key === k).map((s) => seriesOf(s, n, plan, true))),
      ];
      const reason = series.length ? "" : (v.missing as Record<string, string> | null)?.[plan.missing];
      why.hidden = !reason;
      setText(why, reason ? `Not available: ${reason}.` : "");
      band.el.classList.toggle("without", series.length === 0);
      band.el.hidden = series.length === 0 && !reason;
      if (series.length === 0 || n === 0) continue;
      band.setData(this.x, series);
      band.setRange(v.end_ns - span, v.end_ns);
    }
  }

  private resize(): void {
    this.ruler.style.marginLeft = gutter.left - 6 + "px";
    this.ruler.style.marginRight = gutter.right - 6 + "px";
    for (const { band } of this.bands) band.setWidth(this.stack.clientWidth);
  }

  // tip shows the values of the second under the pointer.
  private tip(e: PointerEvent): void {
    const r = this.stack.getBoundingClientRect();
    const share = (e.clientX - r.left - gutter.left) / (r.width - gutter.left - gutter.right);
    const bucket = this.x.length > 1 ? this.x[1]! - this.x[0]! : 0;
    const i = Math.floor((this.end - span + share * span - (this.x[0] ?? 0)) / bucket);
    if (share < 0 || share > 1 || !bucket || i < 0 || i >= this.x.length - 1) {
      hideTip();
      return;
    }
    const rows = this.bands.flatMap(({ band, plan }) => {
      const values = band.el.hidden ? [] : band.visible().map((s): [string, number] => [s.label, s.values[i] ?? NaN]).filter(([, y]) => !Number.isNaN(y));
      return values.length ? [[plan.title] as TipRow, ...values.map(([label, y]): TipRow => [label, plan.format(y)])] : [];
    });
    showTip(e.clientX, e.clientY, ...tipTable(`${Math.round((this.end - this.x[i + 1]!) / 1e9)} s before the newest second`, rows));
  }
}

function minutes(_from: number, to: number): number[] { return [5, 4, 3, 2, 1].map((m) => to - m * minute); }

function seriesOf(s: Series, n: number, plan: Plan, line: boolean): BandSeries {
  const kind = s.key.replace(/^cpu:/, "");
  return { key: s.key, label: s.label || kind, values: padded(s.values, n), paint: plan.paints?.[s.key] ?? paintOf(kind), line };
}

// padded ends with the newest value, whatever the series lacks at its begin.
function padded(values: Points, n: number): Float64Array {
  const out = new Float64Array(n).fill(NaN);
  values.forEach((v, i) => {
    if (v !== null) out[n - values.length + i] = v;
  });
  return out;
}
