// Questions about the tasks: all tables, distributions and filters are sums over the cells
// of the cube.
import { buckets, lowestOf, middleOf, noName } from "./columns";
import type { Cube, Data, Distribution, Measure, Name } from "./data";
import { dimensions, type Dimension, type State } from "./state";

/** Query is a part of the session: slots and a name in each dimension; -1: any. */
export interface Query {
  from: number;
  to: number;
  only: Record<Dimension, number>;
}

/** Sums are what a row has of a measure. */
export interface Sums { known: number; sum: number; max: number }

/** Row is a row of a table. */
export interface Row {
  index: number;
  name: Name;
  count: number;
  threw: number;
  sums: Sums[];
  /** By measure: median and 99th percentile, not known: NaN. */
  p50: number[];
  p99: number[];
  /** By measure: the quantiles are from buckets. */
  rough: boolean[];
}

const bit: Record<Dimension, number> = { class: 1, executor: 2, site: 4, thread: 8 };

const unnamed: Record<Dimension, string> = {
  class: "other classes", executor: "without an executor, or not known", site: "without a call site, or not known", thread: "other threads",
};

/** Tasks answers questions. */
export class Tasks {
  readonly cube: Cube;
  readonly measures: Measure[];
  private readonly names: Record<Dimension, Name[]>;
  private readonly rows: Record<Dimension, Uint16Array>;
  private firstCell: Uint32Array | undefined;
  private readonly orders = new Map<Dimension, { first: Uint32Array; rows: Uint32Array }>();
  private readonly indexes = new Map<Dimension, Map<string, number>>();

  constructor(private readonly data: Data) {
    const c = data.cube;
    this.cube = c;
    this.measures = c.measures;
    this.names = { class: c.classes, executor: c.executors, site: c.sites, thread: c.threads };
    this.rows = { class: c.rows.class, executor: c.rows.executor, site: c.rows.site, thread: c.rows.thread };
  }

  /** namesOf are the names of a dimension. */
  namesOf(d: Dimension): Name[] { return this.names[d]; }

  /** nameAt is the name with an index, or what stands for all that have none. */
  nameAt(d: Dimension, index: number): Name {
    return this.names[d][index] ?? {
      name: "", short: unnamed[d], kind: "", platform: false, created: -1, never: -1, cpu_ns: -1, exact: [],
    };
  }

  /** indexOf is the index of a name, -1: there is none. */
  indexOf(d: Dimension, name: string): number {
    let m = this.indexes.get(d);
    if (!m) {
      m = new Map(this.names[d].map((n, i) => [n.name, i]));
      this.indexes.set(d, m);
    }
    return m.get(name) ?? -1;
  }

  /** measureOf is the index of a measure, by key; the first one otherwise. */
  measureOf(key: string): number { return Math.max(0, this.measures.findIndex((m) => m.key === key)); }

  /** find is the index of a measure, -1: there is none. */
  find(key: string): number { return this.measures.findIndex((m) => m.key === key); }

  /** slots are the slots of a window; all of them if there is none. */
  slots(from: number, to: number): [number, number] {
    if (to <= 0) return [0, this.data.slots];
    const a = Math.max(0, Math.floor(from / this.data.slot_ns + 1e-6));
    return [Math.min(a, this.data.slots - 1), Math.max(a + 1, Math.min(this.data.slots, Math.ceil(to / this.data.slot_ns - 1e-6)))];
  }

  /** queryOf is what a state asks for. A filter by a name that this session does not have is ignored. */
  queryOf(st: State): Query {
    const [from, to] = this.slots(st.from, st.to);
    const only = { class: -1, executor: -1, site: -1, thread: -1 };
    for (const d of dimensions) if (st.filters[d]) only[d] = this.indexOf(d, st.filters[d]);
    return { from, to, only };
  }

  /** whole reports whether a query is about all of a row, which quantiles are exact of. */
  whole(q: Query, d: Dimension): boolean {
    return q.from === 0 && q.to >= this.data.slots && dimensions.every((o) => o === d || q.only[o] < 0);
  }

  /** table is a row for each name of a dimension that has tasks. The dimension's own filter does not narrow it. */
  table(q: Query, d: Dimension, measures: number[]): Row[] {
    const c = this.cube.cells;
    const { slot, count, threw } = c;
    const n = this.names[d].length + 1;
    const counts = new Float64Array(n);
    const threws = new Float64Array(n);
    const sums = measures.map(() => ({ known: new Float64Array(n), sum: new Float64Array(n), max: new Float64Array(n) }));
    const skip = this.mask(q);
    const own = bit[d];
    const ofRow = this.rows[d];
    const first = this.cells();
    for (let r = 0; r < ofRow.length; r++) {
      if (skip[r]! & ~own) continue;
      const id = Math.min(ofRow[r]!, n - 1);
      for (let i = first[r]!; i < first[r + 1]!; i++) {
        if (slot[i]! < q.from || slot[i]! >= q.to) continue;
        counts[id]! += count[i]!;
        threws[id]! += threw[i]!;
        for (let m = 0; m < measures.length; m++) {
          const src = c.measures[measures[m]!]!;
          const to = sums[m]!;
          to.known[id]! += src.known[i]!;
          to.sum[id]! += src.sum[i]!;
          if (src.max[i]! > to.max[id]!) to.max[id] = src.max[i]!;
        }
      }
    }
    const rows: Row[] = [];
    for (let id = 0; id < n; id++) {
      if (!counts[id] && !this.unexecuted(q, d, id)) continue;
      rows.push({
        index: id === n - 1 ? noName : id, name: this.nameAt(d, id), count: counts[id]!, threw: threws[id]!,
        sums: spread(measures, sums.map((s) => ({ known: s.known[id]!, sum: s.sum[id]!, max: s.max[id]! }))),
        p50: [], p99: [], rough: [],
      });
    }
    for (const m of measures) this.quantiles(q, d, m, rows, skip);
    return rows;
  }

  // A class of which tasks were created and never executed belongs into the table of the whole session.
  private unexecuted(q: Query, d: Dimension, id: number): boolean {
    const name = this.names[d][id];
    return !!name && name.never > 0 && this.whole(q, d);
  }

  private quantiles(q: Query, d: Dimension, m: number, rows: Row[], skip: Uint8Array): void {
    const whole = this.whole(q, d);
    const hist = new Float64Array(buckets);
    for (const row of rows) {
      const exact = whole ? row.name.exact?.[m] : null;
      row.rough[m] = !exact || exact.error > 0;
      if (exact) {
        row.p50[m] = exact.count ? exact.p50 : NaN;
        row.p99[m] = exact.count ? exact.p99 : NaN;
        continue;
      }
      const [lo, hi, n] = this.merge(q, d, row.index, m, hist, skip);
      row.p50[m] = Math.min(quantile(hist, lo, hi, n, 0.5), row.sums[m]!.max);
      row.p99[m] = Math.min(quantile(hist, lo, hi, n, 0.99), row.sums[m]!.max);
      hist.fill(0, lo, hi + 1);
    }
  }

  // merge adds the buckets of a name to hist; the lowest and highest of them, and the number of values.
  private merge(q: Query, d: Dimension, id: number, m: number, hist: Float64Array, skip: Uint8Array): [number, number, number] {
    const { slot } = this.cube.cells;
    const { end, bucket, times } = this.cube.cells.measures[m]!;
    const order = this.order(d);
    const first = this.cells();
    const at = Math.min(id, this.names[d].length);
    const own = bit[d];
    let lo = buckets;
    let hi = -1;
    let n = 0;
    for (let k = order.first[at]!; k < order.first[at + 1]!; k++) {
      const r = order.rows[k]!;
      if (skip[r]! & ~own) continue;
      for (let i = first[r]!; i < first[r + 1]!; i++) {
        if (slot[i]! < q.from || slot[i]! >= q.to) continue;
        for (let b = i ? end[i - 1]! : 0; b < end[i]!; b++) {
          const at = bucket[b]!;
          hist[at]! += times[b]!;
          n += times[b]!;
          if (at < lo) lo = at;
          if (at > hi) hi = at;
        }
      }
    }
    return [lo, hi, n];
  }

  /** spreadOf is the distribution of a measure over a query. */
  spreadOf(q: Query, m: number): Spread {
    const c = this.cube.cells;
    const src = c.measures[m];
    const out: Spread = { hist: new Float64Array(buckets), low: buckets, high: -1, known: 0, count: 0, sum: 0, max: 0, exact: null };
    if (!src) return out;
    const skip = this.mask(q);
    const first = this.cells();
    const { slot, count } = c;
    for (let r = 0; r < skip.length; r++) {
      if (skip[r]) continue;
      for (let i = first[r]!; i < first[r + 1]!; i++) {
        if (slot[i]! < q.from || slot[i]! >= q.to) continue;
        out.count += count[i]!;
        out.known += src.known[i]!;
        out.sum += src.sum[i]!;
        out.max = Math.max(out.max, src.max[i]!);
        for (let b = i ? src.end[i - 1]! : 0; b < src.end[i]!; b++) {
          const at = src.bucket[b]!;
          out.hist[at]! += src.times[b]!;
          if (at < out.low) out.low = at;
          if (at > out.high) out.high = at;
        }
      }
    }
    const d = dimensions.filter((d) => q.only[d] >= 0);
    if (d.length === 1 && this.whole(q, d[0]!)) out.exact = this.names[d[0]!][q.only[d[0]!]]?.exact?.[m] ?? null;
    return out;
  }

  // mask has, by row, the dimensions in which a row is filtered out.
  private mask(q: Query): Uint8Array {
    const skip = new Uint8Array(this.rows.class.length);
    for (const d of dimensions) {
      const want = q.only[d];
      if (want < 0) continue;
      const ids = this.rows[d];
      for (let r = 0; r < ids.length; r++) if (ids[r] !== want) skip[r]! |= bit[d];
    }
    return skip;
  }

  // cells has, by row of the cube, its first cell.
  private cells(): Uint32Array {
    if (this.firstCell) return this.firstCell;
    const row = this.cube.cells.row;
    const first = new Uint32Array(this.rows.class.length + 1);
    for (let i = 0; i < row.length; i++) first[row[i]! + 1]!++;
    for (let r = 1; r < first.length; r++) first[r]! += first[r - 1]!;
    this.firstCell = first;
    return first;
  }

  // order has the rows of the cube by name.
  private order(d: Dimension): { first: Uint32Array; rows: Uint32Array } {
    let o = this.orders.get(d);
    if (o) return o;
    const n = this.names[d].length + 1;
    const ids = this.rows[d];
    const first = new Uint32Array(n + 1);
    for (let r = 0; r < ids.length; r++) first[Math.min(ids[r]!, n - 1) + 1]!++;
    for (let i = 1; i <= n; i++) first[i]! += first[i - 1]!;
    const next = first.slice();
    const rows = new Uint32Array(ids.length);
    for (let r = 0; r < ids.length; r++) rows[next[Math.min(ids[r]!, n - 1)]!++] = r;
    o = { first, rows };
    this.orders.set(d, o);
    return o;
  }
}

// spread puts the sums of some measures at their indexes.
function spread(measures: number[], sums: Sums[]): Sums[] {
  const out: Sums[] = [];
  measures.forEach((m, i) => { out[m] = sums[i]!; });
  return out;
}

/** Spread is a distribution: how many values fell into each bucket. */
export interface Spread {
  hist: Float64Array;
  low: number;
  high: number;
  /** Values. */
  known: number;
  /** Tasks, with a value or without. */
  count: number;
  sum: number;
  max: number;
  /** The quantiles over the whole session, where they are known. */
  exact: Distribution | null;
}

/** quantileOf is a quantile of a distribution, within 3.2 %. */
export function quantileOf(s: Spread, p: number): number {
  return Math.min(quantile(s.hist, s.low, s.high, s.known, p), s.max);
}

function quantile(hist: Float64Array, lo: number, hi: number, n: number, p: number): number {
  if (!n) return NaN;
  const rank = Math.max(1, Math.ceil(p * n));
  let sum = 0;
  for (let b = lo; b <= hi; b++) {
    sum += hist[b]!;
    if (sum >= rank) return middleOf(b);
  }
  return middleOf(hi);
}

/** Box is a box plot after Tukey: whiskers at the last value within 1.5 interquartile ranges of the box, and what lies beyond. */
export interface Box {
  min: number; p25: number; p50: number; p75: number; p99: number; max: number; mean: number; rough: boolean;
  /** The ends of the whiskers, within 3.2 % where they are not the least and the greatest value. */
  low: number; high: number;
  /** Values beyond the whiskers, one for each bucket, and how many there are of them. */
  outliers: number[]; beyond: number;
}

/** boxOf is the box of a distribution. */
export function boxOf(s: Spread): Box | null {
  if (!s.known) return null;
  const e = s.exact;
  const b: Box = {
    min: lowestOf(s.low), p25: quantileOf(s, 0.25), p50: quantileOf(s, 0.5), p75: quantileOf(s, 0.75), p99: quantileOf(s, 0.99), max: s.max,
    mean: s.sum / s.known, rough: true, low: 0, high: 0, outliers: [], beyond: 0,
  };
  if (e?.count) Object.assign(b, { min: e.min, p25: e.p25, p50: e.p50, p75: e.p75, p99: e.p99, max: e.max, mean: e.mean, rough: e.error > 0 });
  whiskers(b, s);
  return b;
}

function whiskers(b: Box, s: Spread): void {
  const reach = 1.5 * (b.p75 - b.p25);
  [b.low, b.high] = [b.p25, b.p75];
  for (let i = s.low; i <= s.high; i++) {
    if (!s.hist[i]) continue;
    // The least and the greatest value are known better than their buckets.
    const v = i === s.high ? b.max : i === s.low ? b.min : Math.min(Math.max(middleOf(i), b.min), b.max);
    if (v < b.p25 - reach || v > b.p75 + reach) {
      b.outliers.push(v);
      b.beyond += s.hist[i]!;
    } else [b.low, b.high] = [Math.min(b.low, v), Math.max(b.high, v)];
  }
}
