// Generated from shadow/show/page/data.go by "go test ./shadow/show/page -run TestTypes -update". Do not edit.

/**
 * A column of numbers as it is in the JSON. data is in base64:
 * raw: n little-endian numbers of the type;
 * int: n zigzag varints (LEB128: 7 bits to a byte, the lowest first, the high bit says that more follow);
 *   v of the number z is z % 2 ? -(z + 1) / 2 : z / 2; z is up to 2 ** 53, so no bit operators;
 * delta: the same, each less the value before it (the first less 0);
 * runs: the same, each followed by how often it repeats, a zigzag varint, too.
 */
export interface Encoded {
  type: "f64" | "f32" | "u32" | "u16" | "u8";
  form: "raw" | "int" | "delta" | "runs";
  n: number;
  data: string;
}

// The interfaces below have columns decoded, as typed arrays. Lists are never null.

/** The index of what has no name. */
export type NoName = 65535;

/**
 * Data is what the page shows of one session. It is a block of JSON in the page; the page
 * filters and sums it up in the browser. All times are nanoseconds since the session's
 * start. front/src/data.d.ts is generated from these types.
 *
 * The session is divided into slots of equal length. Whatever follows the brushed window
 * has values by slot that add up: a window begins and ends at the edge of a slot.
 */
export interface Data {
  session: Session;
  verdict: Verdict;
  slots: number;
  slot_ns: number;
  bands: Bands;
  cube: Cube;
  slices: Slices;
  /** null: see Missing["lanes"] */
  lanes: Lanes | null;
  /** null: see Missing["bottle"] */
  bottle: Bottle | null;
  /** null: see Missing["stack"] */
  stack: Stack | null;
  /** null: see Missing["waits"] */
  waits: Waits | null;
  /** null: see Missing["contexts"] */
  contexts: Contexts | null;
  /** null: see Missing["vertical"] */
  vertical: Vertical | null;
  /** virtual threads by class */
  virtual: Virtual[];
  /** Compared is the comparison with another session, or of two sets of runs; null: there is none. */
  compared: Compared | null;
  /** Missing maps what is not available to the reason, a part of a sentence. */
  missing: Record<string, string>;
}

/** Compared is what shadow diff says. */
export interface Compared {
  sentence: string;
  cautions: string[];
  /** the sessions of each side */
  a: string;
  b: string;
  rows: ComparedRow[];
}

/** ComparedRow is a figure on both sides, in words. */
export interface ComparedRow {
  by: string;
  /** "": that of the row before */
  name: string;
  figure: string;
  a: string;
  b: string;
  change: string;
  /** of the change, at 95 %; "": not known */
  interval: string;
  effect: string;
  verdict: string;
  different: boolean;
}

/** Session is the session's line at the top and what is folded below the verdict. */
export interface Session {
  name: string;
  /** under `shadow serve`: its name in addresses; else "" */
  folder: string;
  program: string;
  jvm: string;
  collector: string;
  host: string;
  pid: number;
  /** service, version and environment; "": none */
  labels: string;
  cpus: number;
  /** RFC 3339, "" if not known */
  started: string;
  duration_ns: number;
  /** a report of a session that had not ended */
  running: boolean;
  /** Account says in a sentence whether anything is missing; Losses has what. */
  account: string;
  losses: string[];
  facts: string[];
  cautions: string[];
  /** NeverAtMost: what is missing may have executed some of the tasks that count as never executed. */
  never_at_most: boolean;
  /** created, executed, never executed, threads, ... */
  counts: Count[];
  /** what was not instrumented, by reason */
  refusals: Count[];
}

/** Count is a labelled number. */
export interface Count {
  label: string;
  value: number;
  note: string;
}

/** Verdict is the first screen. */
export interface Verdict {
  sentence: string;
  /** what else belongs beside it; "": nothing */
  note: string;
  /** at most three, the most to gain first */
  cards: Card[];
  /** the advice that got no card */
  more: Card[];
}

/** Card is an advice. */
export interface Card {
  rule: string;
  /** what is wrong */
  title: string;
  /** the figures */
  evidence: string;
  /** what to do */
  remedy: string;
  /** the most that it saves, with the assumptions; or why that is not known */
  gain: string;
  /** GainShare is the predicted gain as a share of the duration; negative: not known. */
  gain_share: number;
  /** its small picture; none: no picture */
  bars: Bar[];
  show: Link;
}

/** Bar is a bar of a card's picture. */
export interface Bar {
  label: string;
  value: number;
  /** Value with its unit */
  text: string;
  /** a state or part that has a colour, or "" */
  kind: string;
}

/** Link leads to a view of the page: #view=class&name=...&from=...&to=... */
export interface Link {
  /** overview, class, executor, site, thread, waits, bottle, stack, contexts, lanes, gc */
  view: string;
  name: string;
  from: number;
  /** 0: no window */
  to: number;
}

/** Bands are the figures over time. A slot has a whole number of buckets. */
export interface Bands {
  buckets: number;
  bucket_ns: number;
  /** mean CPUs by kind of thread; none: see Missing["cpu_band"] */
  cpu: Series[];
  /** units of work (or executions) by class, the last one "others" */
  started: Series[];
  finished: Series;
  /** mean number running, by class */
  running: Series[];
  /** mean number waiting, by executor; none: see Missing["queue"] */
  queued: Series[];
  pauses: Pauses;
}

/** Series has a value for each bucket. */
export interface Series {
  /** kind, class or executor; "": all others */
  key: string;
  label: string;
  values: Float32Array;
}

/** Pauses are those of the collector. */
export interface Pauses {
  from: Float64Array;
  ns: Float32Array;
  /** Count above len(From): the longest are here */
  count: number;
  /** BySlot is the time stopped, overlaps counted once. */
  by_slot: Float64Array;
}

/**
 * Cube has the tasks by class, executor, call site, thread and slot. A row of the cube is
 * one combination; cells have what fell into a slot, by the time it ended. All tables,
 * distributions and filters of the page are sums over cells.
 */
export interface Cube {
  /** "execution" or "unit of work" */
  one: string;
  many: string;
  /**
   * Measures are what has sums and buckets, in the order of Cells.Measures. The first is
   * the work by which tables are sorted; one has the key "wall", one "queue" if known.
   */
  measures: Measure[];
  classes: Name[];
  executors: Name[];
  sites: Name[];
  threads: Name[];
  rows: Rows;
  cells: Cells;
  /** Folded is the number of combinations put together as "others", as there were too many. */
  folded: number;
}

/** Measure is a quantity of a task. */
export interface Measure {
  /** self_cpu, self_wall, wall, queue, alloc... */
  key: string;
  label: string;
  /** ns, bytes or "" */
  unit: string;
  doc: string;
}

/** Name is a row of a table: a class, executor, call site or thread. */
export interface Name {
  name: string;
  short: string;
  /** of a thread: application, main, gc, compiler, vm, other */
  kind: string;
  /** of the JDK or a library below the program: hidden at first */
  platform: boolean;
  /** What is known of the whole session only; negative: not known. */
  created: number;
  /** created and never executed */
  never: number;
  /** of a thread: all of its CPU time */
  cpu_ns: number;
  /** Exact has, by measure, the distribution over the whole session; null: not computed. */
  exact: (Distribution | null)[];
}

/** Distribution has the quantiles of a measure. */
export interface Distribution {
  count: number;
  sum: number;
  mean: number;
  stddev: number;
  min: number;
  p25: number;
  p50: number;
  p75: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
  /** the greatest relative error of the quantiles; 0: exact */
  error: number;
}

/** Rows are the combinations: indexes in the lists of names. NoName: not known, or others. */
export interface Rows {
  class: Uint16Array;
  executor: Uint16Array;
  site: Uint16Array;
  thread: Uint16Array;
}

/** Cells are sorted by row and slot. */
export interface Cells {
  row: Uint32Array;
  slot: Uint16Array;
  count: Uint32Array;
  threw: Uint32Array;
  measures: CellsMeasured[];
}

/** CellsMeasured has a measure of all cells. */
export interface CellsMeasured {
  /** tasks with a value */
  known: Uint32Array;
  sum: Float64Array;
  max: Float64Array;
  /**
   * The cell's buckets are those from End[cell-1] to End[cell]: Bucket and Times. Bucket i
   * holds the values v with i = BucketOf(v); its middle is within 3.2 % of them.
   */
  end: Uint32Array;
  bucket: Uint16Array;
  times: Uint32Array;
}

/**
 * Slices are single tasks, by start: all of them, or the longest of each class and a random
 * sample of the others.
 */
export interface Slices {
  /** of the session */
  total: number;
  all: boolean;
  start: Float64Array;
  ns: Float32Array;
  /** negative: not known */
  queue: Float32Array;
  /** negative: not known */
  cpu: Float32Array;
  /** in Cube.Threads */
  thread: Uint16Array;
  class: Uint16Array;
  executor: Uint16Array;
  site: Uint16Array;
  /** nested in so many others that are shown */
  depth: Uint8Array;
  /** 1: of the random sample, 0: kept because of its length */
  sampled: Uint8Array;
}

/**
 * Lanes say what threads did: for each lane, state and bucket of Bands a share of time,
 * 255 being all of it.
 */
export interface Lanes {
  lanes: Lane[];
  /** running, runnable, lock, io, sleep, gc, ... */
  states: Label[];
  /** [lane][state][bucket] */
  shares: Uint8Array;
}

/** Lane is a thread, or several threads that share a lane. */
export interface Lane {
  label: string;
  kind: string;
  /** in Cube.Threads; -1: it has none */
  thread: number;
  /** threads */
  count: number;
}

/** Label names a key. */
export interface Label {
  key: string;
  label: string;
  doc: string;
}

/**
 * Bottle has the boxes of the bottle graph by slot: both times add up over slots. The height
 * of a box is Height over the length of the window, its width Running over Height
 * (Du Bois et al., Bottle Graphs).
 */
export interface Bottle {
  threads: Lane[];
  slot: Uint16Array;
  thread: Uint16Array;
  running: Float64Array;
  height: Float64Array;
}

/** Stack has the account of the speedup stack by slot: what became of N threads' time. */
export interface Stack {
  n: number;
  /** base (at work), gc, sequential, synchronization, imbalance, io, oversubscription, rest */
  components: Label[];
  /** [slot][component], nanoseconds of thread time; N times SlotNs in all */
  values: Float64Array;
  notes: string[];
}

/** Waits are what tasks and threads waited for. */
export interface Waits {
  /** cpu, runnable, lock, io, sleep, carrier, gc, other, idle, not_known */
  parts: Label[];
  /**
   * Cells: where the wall time of the tasks of a class went. With BySlot false all cells
   * have slot 0 and are of the whole session.
   */
  by_slot: boolean;
  class: Uint16Array;
  slot: Uint16Array;
  /** [cell][part] */
  parted: Float64Array;
  /** of the whole session, the longest waited first */
  rows: WaitRow[];
  /** rows that are not here */
  more: number;
}

/** WaitRow is what was waited for. */
export interface WaitRow {
  /** monitor, synchronizer, io, sleep, carrier, gc, queue, other */
  for: string;
  /** of the object */
  class: string;
  site: string;
  waits: number;
  waited_ns: number;
  max_ns: number;
  ended_by: string;
  held_by: string;
}

/** Contexts are stacks for flame graphs, of the whole session. */
export interface Contexts {
  /** one event in so many was looked at */
  every: number;
  frames: string[];
  stacks: ContextStack[];
  /** stacks that are not here */
  more: number;
}

/** ContextStack is a stack; Frames are indexes, outermost first. */
export interface ContextStack {
  /** creation, submission, execution */
  kind: string;
  /** in Cube.Classes; -1: none */
  class: number;
  frames: number[];
  count: number;
  cpu_ns: number;
  wall_ns: number;
}

/** Virtual sums up the virtual threads of a class; negative: not known. */
export interface Virtual {
  class: string;
  threads: number;
  mounts: number;
  /** mounts on another carrier than before */
  changes: number;
  away_ns: number;
  /** waited for a carrier */
  ready_ns: number;
  most_ready_ns: number;
  pins: number;
  pinned_ns: number;
}

/** Vertical is the vertical profile. */
export interface Vertical {
  /** that changed, by layer from the program down, then by name */
  monitors: Monitor[];
  /** monitors that did not */
  unchanged: number;
  /** monitors that changed, too, and have no room here */
  omitted: number;
  /** what else there would be; "": nothing */
  note: string;
  /** by which phases were found and explained */
  samples: number;
  /** their mean length */
  sample_ns: number;
  /** of the throughput, that differ from its usual level */
  phases: Phase[];
}

/** Monitor has a value for each bucket: the growth of a counter per second, the mean of a level. */
export interface Monitor {
  name: string;
  layer: string;
  unit: string;
  doc: string;
  /** A value is Low + (High - Low) * Values / 65534; 65535: it was not measured then. */
  low: number;
  high: number;
  values: Uint16Array;
}

/** Phase is a time in which the throughput differs from its usual level. */
export interface Phase {
  from: number;
  to: number;
  /** in which it changed in the same way */
  similar: Range[];
  sentence: string;
  /** the most likely one first */
  causes: Cause[];
}

/** Range is a part of the time. */
export interface Range {
  from: number;
  to: number;
}

/** Cause is a monitor that changed with the throughput. */
export interface Cause {
  monitor: string;
  layer: string;
  /** with units */
  before: string;
  during: string;
  /** in words */
  change: string;
  /** "": not clear */
  lag: string;
  /** corrected for the number of series tried */
  p: number;
  /** monitors that moved together with it */
  group: string[];
}
