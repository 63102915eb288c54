// Generated from shadow/show/live/snapshot.go by "go test ./shadow/show/page -run TestTypes -update". Do not edit.

/** Points are the values of a series; null where there is none. */
export type Points = (number | null)[];

// Of findings, the page reads the sentences.
export type FindingKind = string;
export type Gain = unknown;
export type Predicted = unknown;
export type Evidence = unknown;

/** Fleet has a row for each JVM. The event stream sends one each second. */
export interface Fleet {
  /** the shadow's clock, Unix milliseconds */
  now_ms: number;
  /** running ones first, then those that ended within the last minutes */
  jvms: Row[];
  /** JVMs that are not here: there are too many */
  more: number;
}

/** Row is the line of a JVM in the fleet, and the head of its own view. */
export interface Row {
  session: string;
  /** its name in addresses */
  folder: string;
  program: string;
  host: string;
  pid: number;
  /** service, version and environment in one line, then those given by the user */
  labels: string[];
  /** What the JVM says it belongs to; "": it does not say. */
  service: string;
  /** of the service */
  version: string;
  /** environment of the service */
  env: string;
  /** of the service: a pod, a process */
  instance: string;
  /** the others; null: none */
  free_labels: Record<string, string>;
  /** starting, running, silent (nothing came for some seconds), ended */
  state: string;
  /** how; "" while it runs */
  ended: string;
  /** Unix milliseconds; 0: not known */
  started_ms: number;
  /** since the last batch came: figures are as of then */
  lag_ms: number;
  /** Tasks (units of work) per second over the last five seconds. null: not known. */
  started_rate: number | null;
  finished_rate: number | null;
  /** over the last minute; null: no queue time is known */
  queue_p99_ns: number | null;
  /** mean CPUs in use over the last seconds, by kind of thread; null: see missing of the JVM */
  cpus: Share[];
  /** events, since the session began */
  lost: number;
  lost_batches: number;
  /** events that were stored and are not in the live figures: the live view could not follow */
  not_shown: number;
  findings: number;
  sparks: Sparks;
}

/** Share is a part of something, by key. */
export interface Share {
  /** of CPUs: application, gc, compiler, vm, agent, other */
  key: string;
  value: number;
}

/** Sparks are the last 60 seconds, a point a second, the oldest first. */
export interface Sparks {
  /** tasks per second */
  finished: Points;
  /** null in a second without a queue time */
  queue_p99_ns: Points;
  /** all kinds together */
  cpus: Points;
  lost: Points;
}

/**
 * JVM is the live view of one JVM. All times but Row's are nanoseconds since its session
 * began. The event stream sends one each second.
 */
export interface JVM {
  row: Row;
  /**
   * EndNs is the end of the newest bucket: the newest whole second that is known. The
   * series end there.
   */
  end_ns: number;
  /** a second */
  bucket_ns: number;
  /** the last five minutes, at most 300 values, the oldest first */
  series: Series[];
  /** when the JVM last reported: Running and Queued are as of then */
  now_ns: number;
  /** The tables are over the last WindowNs, up to a minute. */
  window_ns: number;
  totals: Totals;
  /** the most busy first; the last one may be "others" */
  classes: Class[];
  /** the most submissions first; the last one may be "others" */
  executors: Executor[];
  /** that have run longest */
  running: Open[];
  /** that have waited longest */
  queued: Open[];
  /** of the last look, which is up to half a minute old: largest first */
  findings: Held[];
  /** findings that have ended, the last one first */
  past: Held[];
  /** what most of the time depends on, in a sentence; "": see missing */
  bound: string;
  /** null: no virtual threads, or nothing known about them */
  virtual: Virtual | null;
  /**
   * Missing maps what is not available to the reason, a part of a sentence: cpu, running,
   * queued, running_now, queued_now, queue, submissions, findings, virtual.
   */
  missing: Record<string, string>;
  /** Notes say what limits the figures, each in a sentence: summarised classes, estimates. */
  notes: string[];
}

/**
 * Series has a value for each bucket.
 *
 * Keys: started, finished, submitted, rejected, threw (tasks), running, queued (mean number),
 * gc (share of the time stopped), lost (events), cpu:application, cpu:gc, cpu:compiler, cpu:vm,
 * cpu:agent, cpu:other (mean CPUs).
 */
export interface Series {
  key: string;
  label: string;
  /** "/s", "" or "share" */
  unit: string;
  values: Points;
}

/** Totals are since the session began, as far as the shadow has seen it. */
export interface Totals {
  /** 0: all of it; else the shadow was started later */
  since_ns: number;
  submitted: number;
  started: number;
  finished: number;
  threw: number;
  rejected: number;
  cancelled: number;
  /** now; null: see missing */
  running: number | null;
  /** now; null: see missing */
  queued: number | null;
  gc_pauses: number;
  gc_pause_ns: number;
  /** records and summarised ones: a task has one or several */
  executions: number;
  /** of Executions: counted by class and thread, without a record each */
  summarised: number;
  /** that live */
  threads: number;
}

/** Flow counts tasks: those of a class or executor. */
export interface Flow {
  /** in the window, as all below */
  submitted: number;
  started: number;
  finished: number;
  threw: number;
  rejected: number;
  /** finished per second */
  rate: number;
  /** now; null: not known */
  running: number | null;
  /** now; null: not known */
  queued: number | null;
  /** null: no queue time is known */
  queue: Times | null;
  /** from start to end; null: none ended */
  service: Times | null;
  /** finished in each of the last 60 seconds */
  spark: Points;
}

/** Times is a distribution of durations; quantiles are within 3.2 %. */
export interface Times {
  count: number;
  sum_ns: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
  max_ns: number;
}

/** Class has the tasks named after one class. */
export interface Class {
  name: string;
  /** of the JDK or a library below the program */
  platform: boolean;
  flow: Flow;
  /**
   * Summarised is the part of Finished that was counted without a record each: their
   * executors are not known.
   */
  summarised: number;
  /** Estimated: the agent timed a random sample of them; counts are exact. */
  estimated: boolean;
}

/** Executor has the tasks of an executor. */
export interface Executor {
  /** in the session; 0: others, -1: tasks for which threads were started */
  id: number;
  /** of it, or the place where it was made */
  name: string;
  class: string;
  /** where it was made; "": not known */
  site: string;
  /** threads of it that live; 0: not known */
  workers: number;
  flow: Flow;
}

/** Open is a task that runs or waits now. */
export interface Open {
  task: string;
  class: string;
  executor: string;
  /** that runs it, or that submitted it; "": not known */
  thread: string;
  /** where it was submitted; "": not known */
  site: string;
  since_ns: number;
  /** at NowNs */
  age_ns: number;
}

/** Held is a finding of the account of time of a running JVM. It has no evidence. */
export interface Held extends Finding {
  /** when it began to hold */
  since_ns: number;
  /** when it no longer held; null: it holds */
  end_ns: number | null;
}

/** Virtual sums up the scheduling of virtual threads; null: not known. */
export interface Virtual {
  /** now */
  mounted: number | null;
  /** alive and not mounted, now */
  parked: number | null;
  /** since the session began */
  mounts: number;
  pins: number;
  pinned_ns: number;
}

/** Finding is one observation, in sentences and in figures. All that shows or compares findings reads this type. */
export interface Finding {
  /** its name in the table of rules; of advice, also in docs/advice.md */
  rule: string;
  kind: FindingKind;
  /** what happened, what to do, and what that saves */
  text: string;
  /** of advice, and of events lost: what is wrong, in a few words */
  title?: string;
  /** the sentences of the text that say what happened */
  happened: string;
  /** of advice: those that say what to do */
  remedy?: string;
  /** of advice: those that say what it saves; absent: it is not about time */
  outcome?: string;
  /** the task class that it is about */
  class?: string;
  /** the executor, or the class that threads were started for */
  executor?: string;
  /** Gain is what a replay predicts; absent: Predicted says why it cannot. */
  gain?: Gain | null;
  /** Predicted has the figures of the replay; absent: following the advice is not about time. */
  predicted?: Predicted | null;
  /** the figures behind it, as the rule has them */
  evidence?: Evidence;
}
