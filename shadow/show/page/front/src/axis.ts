// The time axis: bands over each other, one cursor, and a window that is brushed with the
// mouse, a finger or the keyboard and that all tables and figures follow.
import type { App } from "./app";
import { Band, gutter, timeTicks, type BandSeries } from "./band";
import type { Series } from "./data";
import { button, h, replace } from "./dom";
import { formatAt, formatNs, formatPercent, formatRate } from "./format";
import { Lanes, toggled } from "./lanes";
import { MonitorBands } from "./monitors";
import type { State } from "./state";
import { others, type Paint } from "./theme";
import { hideTip, showTip, tipTable, type TipRow } from "./tip";

/** Axis is the time axis. */
export class Axis {
  readonly el: HTMLElement;
  private readonly bands: { band: Band; missing?: string }[] = [];
  private readonly lanes: Lanes;
  private readonly monitors: MonitorBands;
  private readonly stack = h("div", { class: "stack" });
  private readonly ruler = h("div", { class: "ruler", "aria-hidden": "true" });
  private readonly readout = h("span", { class: "readout quiet", role: "status" });
  private readonly zoomIn = button("Zoom in", () => this.zoomToWindow(), { class: "button", id: "zoom-in" });
  private readonly zoomOut = button("Whole session", () => this.app.store.set({ zoomFrom: 0, zoomTo: 0 }), { class: "button", id: "zoom-out" });
  private readonly clear = button("Clear", () => this.set(0, 0), { class: "button", id: "clear-window", title: "Escape" });
  private readonly brush: Brush;
  private width = 0;

  constructor(private readonly app: App) {
    this.lanes = new Lanes(app);
    this.monitors = new MonitorBands(app, (from, to) => this.ticks(from, to));
    this.brush = new Brush(this, app);
    this.makeBands();
    this.brush.listen(this.stack);
    this.stack.append(...this.bands.map((b) => b.band.el), this.monitors.el, this.lanes.el, this.brush.el);
    this.el = h("section", { class: "panel", id: "axis", "aria-labelledby": "axis-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "axis-title" }, "Over time"), this.readout, this.zoomIn, this.zoomOut, this.clear),
      this.stack, this.ruler);
    new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe(this.stack);
    this.update(app.state);
  }

  /** range is the part of the time axis in sight. */
  range(): [number, number] {
    const st = this.app.state;
    const whole = this.whole();
    return st.zoomTo > 0 && st.zoomFrom < whole ? [st.zoomFrom, Math.min(st.zoomTo, whole)] : [0, whole];
  }

  whole(): number { return Math.max(1, this.app.data.session.duration_ns); }

  /** set chooses a window, from edge to edge of slots. */
  set(from: number, to: number, live = false): void {
    const changes = { from: Math.round(from), to: Math.round(to) };
    if (live) this.app.store.preview(changes);
    else this.app.store.set(changes);
  }

  /** update shows a state. */
  update(st: State): void {
    const [from, to] = this.range();
    for (const { band } of this.bands) {
      band.setRange(from, to);
      band.setHidden(st.hidden.filter((k) => k.startsWith(band.o.id + ".")).map((k) => k.slice(band.o.id.length + 1)));
    }
    this.monitors.update();
    this.monitors.setRange(from, to);
    this.lanes.setRange(from, to);
    this.lanes.setHidden(st.hidden.filter((k) => k.startsWith("lanes.")).map((k) => k.slice(6)));
    const thread = st.view === "lanes" || st.view === "thread" ? st.name : st.filters.thread;
    const shown = thread ? this.app.tasks.indexOf("thread", thread) : -1;
    this.lanes.show({ big: st.view === "lanes", thread: shown, task: st.view === "lanes" ? taskOf(this.app, st.task, shown) : -1 });
    this.el.classList.toggle("compact", st.view !== "overview");
    const windowed = st.to > 0;
    this.readout.textContent = windowed
      ? `${formatAt(st.from, 1e6)} to ${formatAt(st.to, 1e6)}, ${formatNs(st.to - st.from)}`
      : "Drag over a stretch of time: all tables and figures below follow.";
    this.zoomIn.hidden = !windowed || (from === st.from && to === st.to);
    this.zoomOut.hidden = st.zoomTo === 0;
    this.clear.hidden = !windowed;
    this.showRuler(from, to);
    this.brush.place();
  }

  redraw(): void {
    for (const { band } of this.bands) band.redraw();
    this.monitors.redraw();
    this.lanes.redraw();
  }

  /** zoom shows a part of the axis, around a point, as wide as factor times what is in sight. */
  zoom(at: number, factor: number): void {
    const [from, to] = this.range();
    const width = Math.max(1000, Math.min(this.whole(), (to - from) * factor));
    const left = Math.max(0, Math.min(this.whole() - width, at - ((at - from) / (to - from)) * width));
    const all = width >= this.whole();
    this.app.store.set({ zoomFrom: all ? 0 : left, zoomTo: all ? 0 : left + width }, true);
  }

  /** pan moves what is in sight by a share of it. */
  pan(share: number): void {
    const [from, to] = this.range();
    if (to - from >= this.whole()) return;
    const left = Math.max(0, Math.min(this.whole() - (to - from), from + share * (to - from)));
    this.app.store.set({ zoomFrom: left, zoomTo: left + to - from }, true);
  }

  private zoomToWindow(): void {
    const { from, to } = this.app.state;
    if (to > 0) this.app.store.set({ zoomFrom: from, zoomTo: to });
  }

  /** click opens the task at a point. */
  click(clientY: number, t: number): void {
    const i = this.lanes.taskAt(clientY, t);
    if (i >= 0) this.app.store.set(taskLink(this.app, i, this.app.state.view === "lanes"));
  }

  /** tip shows the values at a time. */
  tip(x: number, y: number, t: number): void {
    const lane = this.inLanes(y) ? this.lanes.tipAt(y, t) : null;
    const rows = lane ?? this.valuesAt(t);
    showTip(x, y, ...tipTable("at " + formatAt(t, Math.max(1000, (this.range()[1] - this.range()[0]) / 1000)), rows));
  }

  private inLanes(y: number): boolean {
    const r = this.lanes.el.getBoundingClientRect();
    return y >= r.top && y <= r.bottom;
  }

  private valuesAt(t: number): TipRow[] {
    const b = Math.min(this.app.data.bands.buckets - 1, Math.max(0, Math.floor(t / this.app.data.bands.bucket_ns)));
    return [...this.bands.map(({ band }) => band), ...this.monitors.shown()].flatMap((band) => {
      const rows = band.visible().map((s): [BandSeries, number] => [s, s.values[b] ?? 0]).filter(([, v]) => v > 0).slice(0, 8);
      return rows.length && band.el.offsetHeight ? [[band.o.title] as TipRow, ...rows.map(([s, v]): TipRow => [s.label, band.o.format(v)])] : [];
    });
  }

  private makeBands(): void {
    const b = this.app.data.bands;
    const seconds = b.bucket_ns / 1e9;
    const x = Float64Array.from({ length: b.buckets + 1 }, (_, i) => i * b.bucket_ns);
    const rate = (s: Series): Float32Array => s.values.map((v) => v / seconds);
    const series = (list: Series[], values: (s: Series) => Float32Array, paint?: (s: Series) => Paint): BandSeries[] =>
      list.map((s) => ({ key: s.key || "others", label: s.label || "others", values: values(s), paint: s.key ? paint?.(s) : others }));
    const as = (s: Series) => s.values;
    const classes = (s: Series) => this.app.classPaint(s.key);
    const many = this.app.data.cube.many;
    this.add("cpu", "CPUs in use", "The mean number of CPUs in use, by kind of thread.", 118, formatRate, x, series(b.cpu, as), "cpu_band");
    const finished: BandSeries = { key: "finished", label: "finished", values: rate(b.finished), line: true, paint: { color: 7, shape: "solid" } };
    this.add("started", "Started per second", `How many ${many} started per second, by class. The line is how many finished.`, 108, formatRate, x,
      b.started.length ? [...series(b.started, rate, classes), finished] : [], "tasks");
    this.add("running", "Running at once", `The mean number of ${many} that were running, by class.`, 84, formatRate, x, series(b.running, as, classes), "");
    this.add("queued", "Waiting in queues", `The mean number of ${many} that waited, by executor.`, 84, formatRate, x,
      series(b.queued, as, (s) => this.app.queuePaint(s.key)), "queue");
    this.add("pauses", "Longest GC pause", "The longest pause of the garbage collector that began in each stretch of time.", 56, formatNs, x, this.pauses(), "gc");
  }

  private add(id: string, title: string, doc: string, height: number, format: (v: number) => string, x: Float64Array, series: BandSeries[], why: string): void {
    const reason = this.app.data.missing[why];
    if (!series.length && !reason) return;
    const band = new Band({
      id, title, doc, height: series.length ? height : 0, format,
      ticks: (from, to) => this.ticks(from, to),
      onToggle: (key) => this.app.store.set({ hidden: toggled(this.app.state.hidden, id + "." + key) }),
    });
    if (series.length) band.setData(x, series);
    else band.el.firstElementChild!.append(h("span", { class: "note", "data-missing": why }, `Not available: ${reason}.`));
    this.bands.push({ band });
  }

  private ticks(from: number, to: number): number[] { return timeTicks(from, to, this.stack.clientWidth - gutter.left - gutter.right); }

  private pauses(): BandSeries[] {
    const { pauses, buckets, bucket_ns } = this.app.data.bands;
    if (!pauses.from.length) return [];
    const values = new Float32Array(buckets);
    pauses.from.forEach((from, i) => {
      const b = Math.min(buckets - 1, Math.floor(from / bucket_ns));
      values[b] = Math.max(values[b]!, pauses.ns[i]!);
    });
    return [{ key: "gc", label: "stopped for the collector", values }];
  }

  private resize(): void {
    const width = this.stack.clientWidth;
    if (width === this.width) return;
    this.width = width;
    gutter.left = width > 1900 ? 156 : width > 760 ? 118 : 54;
    this.brush.el.style.left = gutter.left + "px";
    this.ruler.style.marginLeft = gutter.left - 6 + "px";
    this.ruler.style.marginRight = gutter.right - 6 + "px";
    for (const { band } of this.bands) band.setWidth(width);
    this.monitors.setWidth(width);
    this.lanes.setWidth(width);
    this.showRuler(...this.range());
    this.brush.place();
  }

  private showRuler(from: number, to: number): void {
    const width = this.ruler.clientWidth;
    if (!width) return;
    const ticks = timeTicks(from, to, width);
    const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : to - from;
    replace(this.ruler, ...ticks.map((t) => {
      const label = h("span", { class: to - t < ((to - from) * 28) / width ? "last" : null }, formatAt(t, step));
      label.style.left = ((t - from) / (to - from)) * 100 + "%";
      return label;
    }));
  }
}

/** taskOf is the index of the slice of a thread that began at a time, -1: there is none. */
export function taskOf(app: App, start: number, thread: number): number {
  if (start < 0) return -1;
  const sl = app.data.slices;
  let best = -1;
  for (let i = 0; i < sl.start.length; i++) {
    if (Math.abs(sl.start[i]! - start) < 1 && (thread < 0 || sl.thread[i] === thread)) best = i;
  }
  return best;
}

/** taskLink is the state that shows a task in its lane. */
export function taskLink(app: App, i: number, keepZoom = false): Partial<State> {
  const sl = app.data.slices;
  const start = sl.start[i]!;
  const queue = Math.max(0, sl.queue[i]!);
  const around = Math.max(sl.ns[i]! * 1.5, 2e4);
  const zoom = keepZoom ? {} : { zoomFrom: Math.max(0, start - Math.min(queue, sl.ns[i]! * 4) - around), zoomTo: start + sl.ns[i]! + around };
  return { view: "lanes", name: app.tasks.nameAt("thread", sl.thread[i]!).name, task: start, versus: "", ...zoom };
}

function onButton(e: Event): boolean { return (e.target as Element).closest("button, a") !== null; }

// Brush is what lies over the bands: the cursor, the window and its handles.
class Brush {
  readonly el: HTMLElement;
  private readonly before = h("div", { class: "shade" });
  private readonly after = h("div", { class: "shade" });
  private readonly cursor = h("div", { class: "cursor", hidden: true });
  private readonly handles: HTMLElement[];
  private anchor = 0;
  private downAt = -1;
  private dragging = false;
  private window: [number, number] = [0, 0];
  private timer = 0;
  private pace = 90;

  constructor(private readonly axis: Axis, private readonly app: App) {
    this.handles = (["Begin of the window", "End of the window"] as const).map((label, i) =>
      h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, onkeydown: (e: KeyboardEvent) => this.key(e, i) }));
    this.el = h("div", { class: "brush", id: "brush" }, this.before, this.after, this.cursor, ...this.handles);
  }

  /** listen follows the pointer over all of the bands. A press on a legend becomes a drag only if it moves. */
  listen(over: HTMLElement): void {
    over.addEventListener("pointerdown", (e) => this.down(e));
    over.addEventListener("pointermove", (e) => this.move(e, over));
    over.addEventListener("pointerup", (e) => this.up(e));
    over.addEventListener("pointercancel", () => this.cancel());
    over.addEventListener("pointerleave", () => this.leave());
    over.addEventListener("dblclick", (e) => { if (!onButton(e)) this.axis.set(0, 0); });
    over.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  private timeAt(clientX: number): number {
    const r = this.el.getBoundingClientRect();
    const [from, to] = this.axis.range();
    return from + Math.max(0, Math.min(1, (clientX - r.left) / r.width)) * (to - from);
  }

  private down(e: PointerEvent): void {
    if (e.button !== 0) return;
    const handle = this.handles.indexOf(e.target as HTMLElement);
    const [from, to] = this.chosen();
    const t = this.timeAt(e.clientX);
    this.anchor = handle < 0 || this.app.state.to <= 0 ? t : handle === 0 ? to - 1 : from + 1;
    this.downAt = e.clientX;
    this.dragging = false;
  }

  private move(e: PointerEvent, over: HTMLElement): void {
    if (this.downAt >= 0 && !e.buttons) this.cancel(); // let go outside of the bands
    const t = this.timeAt(e.clientX);
    const [from, to] = this.axis.range();
    this.cursor.hidden = false;
    this.cursor.style.left = ((t - from) / (to - from)) * 100 + "%";
    if (this.downAt >= 0 && (this.dragging || Math.abs(e.clientX - this.downAt) > 3)) {
      if (!this.dragging) over.setPointerCapture(e.pointerId);
      this.dragging = true;
      this.window = this.snap(Math.min(t, this.anchor), Math.max(t, this.anchor));
      this.paint(this.window);
      // The tables follow at their own pace: what is under the finger comes first.
      this.timer ||= window.setTimeout(() => {
        this.timer = 0;
        if (!this.dragging) return;
        const began = performance.now();
        this.axis.set(...this.window, true);
        this.pace = Math.max(90, 3 * (performance.now() - began));
      }, this.pace);
      hideTip();
    } else if (onButton(e)) this.leave();
    else this.axis.tip(e.clientX, e.clientY, t);
  }

  private up(e: PointerEvent): void {
    if (this.downAt < 0) return;
    this.downAt = -1;
    if (this.dragging) this.axis.set(...this.window);
    else if (!onButton(e)) this.axis.click(e.clientY, this.timeAt(e.clientX));
    this.dragging = false;
  }

  private cancel(): void {
    this.downAt = -1;
    this.dragging = false;
    this.place();
  }

  private leave(): void {
    this.cursor.hidden = true;
    hideTip();
  }

  private wheel(e: WheelEvent): void {
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      this.axis.zoom(this.timeAt(e.clientX), Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 80));
    } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) {
      e.preventDefault();
      this.axis.pan((e.deltaX || e.deltaY) / this.el.clientWidth);
    }
  }

  private key(e: KeyboardEvent, handle: number): void {
    const slot = this.app.data.slot_ns;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    const step = steps[e.key];
    if (step === undefined) return;
    e.preventDefault();
    let [from, to] = this.chosen();
    const whole = this.axis.whole();
    const by = Number.isFinite(step) ? step * slot : step > 0 ? whole : -whole;
    if (e.shiftKey) {
      const move = Math.max(-from, Math.min(whole - to, by));
      [from, to] = [from + move, to + move];
    } else if (handle === 0) from = Math.max(0, Math.min(to - slot, from + by));
    else to = Math.min(whole, Math.max(from + slot, to + by));
    // Steps of a key are no steps for the browser's back button.
    const [a, b] = this.snap(from + slot * 0.01, to - slot * 0.01);
    this.app.store.set({ from: Math.round(a), to: Math.round(b) }, true);
  }

  // chosen is the window, or all of the session.
  private chosen(): [number, number] {
    const st = this.app.state;
    return st.to > 0 ? [st.from, st.to] : [0, this.axis.whole()];
  }

  private snap(from: number, to: number): [number, number] {
    const [a, b] = this.app.tasks.slots(from, to);
    const slot = this.app.data.slot_ns;
    return [a * slot, Math.min(b * slot, this.axis.whole())];
  }

  /** place shows the window of the state. */
  place(): void {
    if (!this.dragging) this.paint(this.app.state.to > 0 ? this.chosen() : null);
  }

  private paint(window: [number, number] | null): void {
    const [from, to] = this.axis.range();
    const share = (t: number) => Math.max(0, Math.min(1, (t - from) / (to - from)));
    const [a, b] = window ?? [0, this.axis.whole()];
    this.el.classList.toggle("on", window !== null);
    this.before.style.left = "0";
    this.before.style.width = (window ? share(a) : 0) * 100 + "%";
    this.after.style.left = share(b) * 100 + "%";
    this.after.style.right = "0";
    this.after.hidden = !window;
    this.handles.forEach((el, i) => {
      const t = i ? b : a;
      el.style.left = share(t) * 100 + "%";
      el.hidden = t < from || t > to;
      el.setAttribute("aria-valuemax", String(Math.round(this.axis.whole() / 1e6)));
      el.setAttribute("aria-valuenow", String(Math.round(t / 1e6)));
      el.setAttribute("aria-valuetext", formatNs(t) + (window ? "" : ", no window") + ", " + formatPercent(t / this.axis.whole()));
    });
  }
}
