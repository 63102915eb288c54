// Threads as lanes: what each did over time, and the tasks on it. Everything is drawn into a
// canvas once for a part of the time axis; what moves while brushing lies over it.
import type { App } from "./app";
import { shortOf } from "./app";
import { noName } from "./columns";
import type { Label, Lane } from "./data";
import { button, h, replace } from "./dom";
import { gutter } from "./band";
import { formatAt, formatNs } from "./format";
import { canvasFill, colorOf, paintOf, swatch, token } from "./theme";
import type { TipRow } from "./tip";

const pageOf = 40;
const small = { height: 15, tasks: 0, gap: 3 };
const smallTasks = { height: 26, tasks: 12, gap: 4 };
const large = { height: 32, tasks: 20, gap: 6 };

/** Lanes draws threads. */
export class Lanes {
  readonly el: HTMLElement;
  private readonly canvas = h("canvas", { role: "img" });
  private readonly legend = h("div", { class: "legend" });
  private readonly foot = h("div", { class: "foot" });
  private readonly lanes: Lane[];
  private readonly states: Label[];
  private readonly laneOf = new Map<number, number>();
  private byThread: Map<number, number[]> | undefined;
  private hidden = new Set<string>();
  private range: [number, number] = [0, 1];
  private width = 0;
  private big = false;
  private page = 0;
  private only = -1;
  /** The index of the slice that is highlighted. */
  private chosen = -1;
  private longest = 0;

  constructor(private readonly app: App) {
    const data = app.data;
    this.lanes = data.lanes?.lanes ?? app.tasks.namesOf("thread").map((n, i) => ({ label: n.name, kind: n.kind, thread: i, count: 1 }));
    this.states = data.lanes?.states ?? [];
    this.lanes.forEach((l, i) => {
      if (l.thread >= 0 && !this.laneOf.has(l.thread)) this.laneOf.set(l.thread, i);
    });
    this.el = h("div", { class: "band lanes", id: "lanes", role: "group", "aria-label": "Threads" },
      h("div", { class: "band-head" }, h("h3", { title: "What each thread did. The height of a colour is its share of the time." }, "Threads"), this.legend),
      this.canvas, this.foot);
    this.showLegend();
  }

  /** setHidden switches states off. */
  setHidden(keys: Iterable<string>): void {
    const next = new Set(keys);
    if (next.size === this.hidden.size && [...next].every((k) => this.hidden.has(k))) return;
    this.hidden = next;
    this.showLegend();
    this.draw();
  }

  /** show chooses how: as the view of its own or a band, one thread only, and a task. */
  show(o: { big: boolean; thread: number; task: number }): void {
    const lane = this.laneOf.get(o.thread) ?? -1;
    const only = o.big ? -1 : lane;
    if (o.big && lane >= 0) this.page = Math.floor(lane / pageOf);
    if (o.big === this.big && only === this.only && o.task === this.chosen) return;
    this.big = o.big;
    this.only = only;
    this.chosen = o.task;
    this.draw();
  }

  setRange(from: number, to: number): void {
    if (from === this.range[0] && to === this.range[1]) return;
    this.range = [from, to];
    this.draw();
  }

  setWidth(width: number): void {
    if (width === this.width) return;
    this.width = width;
    this.draw();
  }

  redraw(): void {
    this.showLegend();
    this.draw();
  }

  private showLegend(): void {
    replace(this.legend, ...this.states.map((st) => {
      const b = button(null, () => this.app.store.set({ hidden: toggled(this.app.state.hidden, "lanes." + st.key) }),
        { class: "key", "aria-pressed": String(!this.hidden.has(st.key)), "data-key": st.key, title: st.doc });
      b.append(swatch(paintOf(st.key)), h("span", null, st.label));
      return b;
    }));
    if (!this.app.data.lanes) this.legend.append(h("span", { class: "note", "data-missing": "lanes" }, "What threads did is not available: " + (this.app.data.missing["lanes"] ?? "it was not recorded") + "."));
  }

  private zoomed(): boolean { return this.range[1] - this.range[0] < this.app.data.session.duration_ns * 0.6; }

  private look(): { height: number; tasks: number; gap: number } {
    return this.big ? large : this.zoomed() || !this.app.data.lanes ? smallTasks : small;
  }

  // inSight are the lanes that are drawn.
  private inSight(): number[] {
    if (this.only >= 0) return [this.only];
    const from = this.big ? this.page * pageOf : 0;
    const to = Math.min(this.lanes.length, from + (this.big ? pageOf : 10));
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  }

  private draw(): void {
    if (!this.width) return;
    const look = this.look();
    const lanes = this.inSight();
    const ratio = devicePixelRatio || 1;
    const height = lanes.length * (look.height + look.gap) + 2;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = height + "px";
    this.canvas.setAttribute("aria-label", `What ${lanes.length} threads did over time: ${lanes.slice(0, 12).map((l) => this.lanes[l]!.label).join(", ")}`);
    const ctx = this.canvas.getContext("2d");
    if (!ctx) return;
    ctx.scale(ratio, ratio);
    this.drawLabels(ctx, lanes, look);
    ctx.save();
    ctx.beginPath();
    ctx.rect(gutter.left, 0, this.width - gutter.left - gutter.right, height);
    ctx.clip();
    this.drawStates(ctx, lanes, look);
    if (look.tasks) this.drawTasks(ctx, lanes, look);
    ctx.restore();
    this.showFoot();
  }

  private showFoot(): void {
    replace(this.foot);
    const n = this.lanes.length;
    if (this.big && n > pageOf) {
      const pages = Math.ceil(n / pageOf);
      const turn = (by: number) => () => { this.page += by; this.draw(); };
      this.foot.append(
        button("Previous", turn(-1), { class: "button", disabled: this.page === 0 }),
        h("span", { class: "quiet" }, `Threads ${this.page * pageOf + 1} to ${Math.min(n, (this.page + 1) * pageOf)} of ${n}`),
        button("Next", turn(1), { class: "button", disabled: this.page + 1 >= pages }));
    } else if (!this.big && this.only < 0 && n > 10) {
      this.foot.append(h("a", { href: this.app.store.link({ view: "lanes", name: "", task: -1 }) }, `All ${n} lanes, with the tasks on them`));
    }
    this.foot.hidden = !this.foot.childElementCount;
  }

  private drawLabels(ctx: CanvasRenderingContext2D, lanes: number[], look: { height: number; gap: number }): void {
    ctx.font = token("figure-font");
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = token("muted");
    lanes.forEach((l, i) => {
      const lane = this.lanes[l]!;
      const text = lane.count > 1 ? `${lane.label} (${lane.count})` : lane.label;
      ctx.fillText(fit(ctx, text, gutter.left - 14), gutter.left - 8, i * (look.height + look.gap) + look.height / 2 + 1);
    });
  }

  private xOf(t: number): number {
    const [from, to] = this.range;
    return gutter.left + ((t - from) / (to - from)) * (this.width - gutter.left - gutter.right);
  }

  // edgeOf is xOf at the edge of a pixel: neighbours that share an edge have no seam.
  private edgeOf(t: number): number {
    const ratio = devicePixelRatio || 1;
    return Math.round(this.xOf(t) * ratio) / ratio;
  }

  private drawStates(ctx: CanvasRenderingContext2D, lanes: number[], look: { height: number; tasks: number; gap: number }): void {
    const data = this.app.data;
    const height = look.height - look.tasks;
    ctx.fillStyle = token("sunken");
    lanes.forEach((_, i) => ctx.fillRect(gutter.left, i * (look.height + look.gap) + look.tasks, this.width, height));
    if (!data.lanes) return;
    const { shares } = data.lanes;
    const { buckets, bucket_ns } = data.bands;
    const states = this.states.length;
    const cols = columnsOf(this.range, bucket_ns, buckets, this.width - gutter.left - gutter.right);
    // The share of each state that is below, by lane and column.
    const below = lanes.map(() => new Float32Array(cols.length));
    this.states.forEach((st, k) => {
      if (this.hidden.has(st.key)) return;
      ctx.fillStyle = canvasFill(paintOf(st.key));
      lanes.forEach((l, i) => {
        const at = (l * states + k) * buckets;
        const base = i * (look.height + look.gap) + look.height;
        const under = below[i]!;
        let start = 0;
        let share = 0;
        let floor = 0;
        const flush = (end: number) => {
          if (share <= 0) return;
          const x = this.edgeOf(cols[start]!.from * bucket_ns);
          ctx.fillRect(x, base - (floor + share) * height, this.edgeOf(cols[end - 1]!.to * bucket_ns) - x, share * height);
        };
        for (let c = 0; c < cols.length; c++) {
          const { from, to } = cols[c]!;
          let sum = 0;
          for (let b = from; b < to; b++) sum += shares[at + b]!;
          const mean = sum / (to - from) / 255;
          if (mean !== share || under[c] !== floor) {
            flush(c);
            start = c;
            share = mean;
            floor = under[c]!;
          }
          under[c]! += mean;
        }
        flush(cols.length);
      });
    });
  }

  private drawTasks(ctx: CanvasRenderingContext2D, lanes: number[], look: { height: number; tasks: number; gap: number }): void {
    const sl = this.app.data.slices;
    const rowOf = new Map(lanes.map((l, i) => [l, i]));
    const fills = this.app.tasks.namesOf("class").map((n) => colorOf(this.app.classPaint(n.name)));
    const other = token("c8");
    // What is drawn up to, by lane and depth: slices below a pixel are drawn once for each pixel.
    const drawn = new Map<number, number>();
    const [from, to] = this.range;
    let fill = "";
    const labels: { x: number; y: number; width: number; height: number; slice: number }[] = [];
    for (let i = 0; i < sl.start.length; i++) {
      if (sl.start[i]! > to) break;
      if (sl.start[i]! + sl.ns[i]! < from) continue;
      const row = rowOf.get(this.laneOf.get(sl.thread[i]!) ?? -1);
      if (row === undefined) continue;
      const depth = Math.min(4, sl.depth[i]!);
      const x = this.xOf(sl.start[i]!);
      const width = this.xOf(sl.start[i]! + sl.ns[i]!) - x;
      const key = row * 8 + depth;
      const until = drawn.get(key) ?? -1;
      if (width < 1 && x + 0.5 < until) continue;
      drawn.set(key, width < 1 ? x + 1 : x + width);
      const y = row * (look.height + look.gap) + depth * 3;
      const height = look.tasks - 2 - depth * 3;
      const next = fills[sl.class[i]!] ?? other;
      if (next !== fill) ctx.fillStyle = fill = next;
      ctx.fillRect(x, y, width > 3 ? width - 0.75 : Math.max(1, width), height);
      if (this.big && width > 46) labels.push({ x, y, width, height, slice: i });
    }
    this.drawNames(ctx, labels);
    this.drawChosen(ctx, rowOf, look);
  }

  private drawNames(ctx: CanvasRenderingContext2D, labels: { x: number; y: number; width: number; height: number; slice: number }[]): void {
    ctx.textAlign = "left";
    ctx.font = token("figure-font");
    const sl = this.app.data.slices;
    for (const { x, y, width, height, slice } of labels) {
      if (height < 12) continue;
      const name = this.app.tasks.nameAt("class", sl.class[slice]!);
      const left = Math.max(x, gutter.left) + 5;
      ctx.fillStyle = inkOn(colorOf(this.app.classPaint(name.name)));
      ctx.fillText(fit(ctx, shortOf(name), x + width - left - 4), left, y + height / 2 + 1);
    }
  }

  private drawChosen(ctx: CanvasRenderingContext2D, rowOf: Map<number, number>, look: { height: number; tasks: number; gap: number }): void {
    if (this.chosen < 0) return;
    const sl = this.app.data.slices;
    const row = rowOf.get(this.laneOf.get(sl.thread[this.chosen]!) ?? -1);
    if (row === undefined) return;
    const start = sl.start[this.chosen]!;
    const x = this.xOf(start);
    const width = Math.max(3, this.xOf(start + sl.ns[this.chosen]!) - x);
    const y = row * (look.height + look.gap);
    ctx.strokeStyle = token("text");
    ctx.lineWidth = 2;
    ctx.strokeRect(x - 1, y + 1, width + 1, look.tasks - 3);
    const queue = sl.queue[this.chosen]!;
    if (queue > 0) {
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(this.xOf(start - queue), y + look.tasks);
      ctx.lineTo(x, y + look.tasks);
      ctx.stroke();
      ctx.setLineDash([]);
    }
  }

  /** taskAt is the index of the slice at a point of the window and a time, -1: there is none. */
  taskAt(clientY: number, t: number): number {
    const look = this.look();
    const lane = this.laneAt(clientY);
    if (!look.tasks || lane < 0) return -1;
    const thread = this.lanes[lane]!.thread;
    const list = this.slicesOf(thread);
    const sl = this.app.data.slices;
    const reach = ((this.range[1] - this.range[0]) / Math.max(1, this.width)) * 3;
    let lo = 0;
    let hi = list.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (sl.start[list[mid]!]! <= t + reach) lo = mid + 1;
      else hi = mid;
    }
    let best = -1;
    for (let k = lo - 1; k >= 0 && sl.start[list[k]!]! + this.longest >= t; k--) {
      const i = list[k]!;
      if (sl.start[i]! + sl.ns[i]! + reach < t) continue;
      if (best < 0 || sl.depth[i]! > sl.depth[best]!) best = i;
      if (sl.start[i]! <= t && sl.start[i]! + sl.ns[i]! >= t && sl.depth[i] === 0) break;
    }
    return best;
  }

  private laneAt(clientY: number): number {
    const look = this.look();
    const y = clientY - this.canvas.getBoundingClientRect().top;
    const row = Math.floor(y / (look.height + look.gap));
    return y < 0 ? -1 : this.inSight()[row] ?? -1;
  }

  private slicesOf(thread: number): number[] {
    if (!this.byThread) {
      this.byThread = new Map();
      const sl = this.app.data.slices;
      for (let i = 0; i < sl.start.length; i++) {
        const list = this.byThread.get(sl.thread[i]!);
        if (list) list.push(i);
        else this.byThread.set(sl.thread[i]!, [i]);
        this.longest = Math.max(this.longest, sl.ns[i]!);
      }
    }
    return this.byThread.get(thread) ?? [];
  }

  /** tipAt describes the lane and task at a point; null: there is no lane. */
  tipAt(clientY: number, t: number): TipRow[] | null {
    const lane = this.laneAt(clientY);
    if (lane < 0) return null;
    const rows: TipRow[] = [[this.lanes[lane]!.label]];
    const data = this.app.data;
    const b = Math.min(data.bands.buckets - 1, Math.floor(t / data.bands.bucket_ns));
    this.states.forEach((st, k) => {
      const share = data.lanes!.shares[(lane * this.states.length + k) * data.bands.buckets + b]! / 255;
      if (share > 0.004) rows.push([st.label, Math.round(share * 100) + " %"]);
    });
    const task = this.taskAt(clientY, t);
    if (task >= 0) rows.push(...describe(this.app, task));
    return rows;
  }
}

/** describe has the figures of a task. */
export function describe(app: App, i: number): TipRow[] {
  const sl = app.data.slices;
  const name = (d: "class" | "executor" | "site", at: number): TipRow[] => (at === noName ? [] : [[d === "site" ? "submitted at" : d, shortOf(app.tasks.nameAt(d, at))]]);
  const rows: TipRow[] = [[shortOf(app.tasks.nameAt("class", sl.class[i]!))], ["from start to end", formatNs(sl.ns[i]!)]];
  if (sl.cpu[i]! >= 0) rows.push(["CPU time", formatNs(sl.cpu[i]!)]);
  if (sl.queue[i]! >= 0) rows.push(["in the queue before", formatNs(sl.queue[i]!)]);
  rows.push(["began at", formatAt(sl.start[i]!, 1e3)], ...name("executor", sl.executor[i]!), ...name("site", sl.site[i]!));
  return rows;
}

/** toggled is a list with a key added, or without it if it was there. */
export function toggled(list: string[], key: string): string[] {
  return list.includes(key) ? list.filter((k) => k !== key) : [...list, key];
}

// columnsOf are the buckets of each pixel, or single buckets where these are wider.
function columnsOf([from, to]: [number, number], bucketNs: number, buckets: number, width: number): { from: number; to: number }[] {
  const first = Math.max(0, Math.floor(from / bucketNs));
  const last = Math.min(buckets, Math.ceil(to / bucketNs));
  const each = Math.max(1, Math.floor((last - first) / Math.max(1, width)));
  const cols = [];
  for (let b = first; b < last; b += each) cols.push({ from: b, to: Math.min(last, b + each) });
  return cols;
}

/** fit cuts a text so that it fits. */
function fit(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 8) return "";
  if (ctx.measureText(text).width <= width) return text;
  let n = Math.min(text.length, Math.ceil(width / 4));
  while (n > 0 && ctx.measureText(text.slice(0, n) + "…").width > width) n--;
  return n ? text.slice(0, n) + "…" : "";
}

// inkOn is black or white, whichever is the more legible on a colour.
function inkOn(hex: string): string {
  const n = parseInt(hex.slice(1), 16);
  const luminance = 0.2126 * ((n >> 16) & 255) ** 2.2 + 0.7152 * ((n >> 8) & 255) ** 2.2 + 0.0722 * (n & 255) ** 2.2;
  return luminance > 0.18 * 255 ** 2.2 ? "#15161a" : "#ffffff";
}
