// The monitors of the vertical profile: their values, and those that are shown as bands on the time axis.
import type { App } from "./app";
import { Band } from "./band";
import type { Monitor } from "./data";
import { button, h, replace } from "./dom";
import { formatBytes, formatNs, formatPercent, formatRate } from "./format";
import { paintOfRank } from "./theme";

/** mostChosen is how many monitors can be bands, and in the matrix, at once. */
export const mostChosen = 8;

const unmeasured = 65535;

/** layers are the layers from the program down. */
export const layers: { key: string; label: string }[] = [
  { key: "application", label: "application" }, { key: "framework", label: "framework" }, { key: "libraries", label: "libraries" }, { key: "vm", label: "JVM" },
  { key: "native", label: "native" }, { key: "os", label: "OS" }, { key: "hardware", label: "hardware" },
];

const decoded = new WeakMap<Monitor, Float64Array>();

/** valuesOf are the values of a monitor; NaN: not measured then. */
export function valuesOf(m: Monitor): Float64Array {
  let values = decoded.get(m);
  if (!values) {
    values = Float64Array.from(m.values, (v) => (v === unmeasured ? NaN : m.low + ((m.high - m.low) * v) / (unmeasured - 1)));
    decoded.set(m, values);
  }
  return values;
}

/** formatValue prints a value of a monitor with its unit. */
export function formatValue(v: number, unit: string): string {
  if (!Number.isFinite(v)) return "n/a";
  if (unit === "ns") return formatNs(v);
  if (unit === "bytes" || unit === "bytes/s") return formatBytes(v) + unit.slice("bytes".length);
  if (unit === "ratio" || unit === "s/s") return formatPercent(v);
  return formatRate(v) + (unit.startsWith("1/") ? unit.slice(1) : unit ? " " + unit : "");
}

/** chosenMonitors are those that the state names and the session has. */
export function chosenMonitors(app: App): Monitor[] {
  const all = app.data.vertical?.monitors ?? [];
  return app.state.monitors.map((name) => all.find((m) => m.name === name)).filter((m): m is Monitor => m !== undefined).slice(0, mostChosen);
}

/** toggleMonitor shows a monitor as a band, or no longer. */
export function toggleMonitor(app: App, name: string): void {
  const now = app.state.monitors;
  if (now.includes(name)) app.store.set({ monitors: now.filter((n) => n !== name) });
  else app.store.set({ monitors: [...now, name].slice(-mostChosen) });
}

/** MonitorBands are the bands of the chosen monitors. */
export class MonitorBands {
  readonly el = h("div", { class: "monitor-bands" });
  private bands: { name: string; band: Band }[] = [];
  private width = 0;
  private range: [number, number] = [0, 1];

  constructor(private readonly app: App, private readonly ticks: (from: number, to: number) => number[]) {}

  /** update shows the monitors of the state. */
  update(): void {
    const chosen = chosenMonitors(this.app);
    if (chosen.map((m) => m.name).join("\n") === this.bands.map((b) => b.name).join("\n")) return;
    this.bands = chosen.map((m, i) => this.bands.find((b) => b.name === m.name) ?? { name: m.name, band: this.make(m, i) });
    replace(this.el, ...this.bands.map((b) => b.band.el));
    for (const { band } of this.bands) {
      band.setRange(...this.range);
      band.setWidth(this.width);
    }
  }

  setRange(from: number, to: number): void {
    this.range = [from, to];
    for (const { band } of this.bands) band.setRange(from, to);
  }

  setWidth(width: number): void {
    this.width = width;
    for (const { band } of this.bands) band.setWidth(width);
  }

  redraw(): void {
    for (const { band } of this.bands) band.redraw();
  }

  /** shown are the bands in sight, for a tip. */
  shown(): Band[] { return this.bands.map((b) => b.band); }

  private make(m: Monitor, i: number): Band {
    const b = this.app.data.bands;
    const layer = layers.find((l) => l.key === m.layer)?.label ?? m.layer;
    // A unit that the figures do not have with them stands in the title: the axis has little room.
    const scaled = ["ns", "bytes", "bytes/s", "ratio", "s/s", ""].includes(m.unit);
    const band = new Band({
      id: "monitor-" + i, title: scaled ? m.name : `${m.name} (${m.unit})`, doc: `${m.doc} (${layer})`, height: 64, ticks: this.ticks,
      format: scaled ? (v) => formatValue(v, m.unit) : formatRate,
    });
    band.setData(Float64Array.from({ length: b.buckets + 1 }, (_, k) => k * b.bucket_ns), [{ key: m.name, label: layer, values: valuesOf(m), paint: paintOfRank(i), line: true }]);
    band.el.firstElementChild!.append(button("×", () => toggleMonitor(this.app, m.name), { class: "key remove", "aria-label": "Remove " + m.name, title: "Remove this band" }));
    return band;
  }
}
