// What a JVM does now.
import { h, replace } from "./dom";
import { formatCount, formatNs, formatPercent, formatRate, plural } from "./format";
import type { Class, Executor, Flow, JVM, Open, Times } from "./live";
import { addressOf } from "./liveapi";
import { LiveBands } from "./livebands";
import { LiveFindings } from "./livefindings";
import { cpusOf, duration, known, lostOf, nameOf, stateOf, unknown } from "./livefigures";
import { LiveHead } from "./livehead";
import { packageOf, withoutPackages } from "./livename";
import { harmless, LiveTable, setText, type LiveColumn } from "./livetable";

/** jvmPage shows the JVM with that folder in main. */
export function jvmPage(main: HTMLElement, folder: string): void {
  const head = new LiveHead(h("a", { class: "brand", href: "/" }, "shadow"));
  document.body.prepend(head.el);
  const view = new JVMView(folder);
  replace(main, view.el);
  head.follow<JVM>("/events?jvm=" + encodeURIComponent(folder), (v) => {
    head.late = v.row.lag_ms;
    view.update(v);
    document.documentElement.dataset["state"] = "ready";
  });
}

type Tile = { text: (v: JVM) => string; bad?: (v: JVM) => boolean; label: string };

const tiles: Tile[] = [
  { label: "tasks/s", text: (v) => known(v.row.finished_rate, formatRate) },
  { label: "running", text: (v) => known(v.totals.running, formatCount) },
  { label: "queued", text: (v) => known(v.totals.queued, formatCount) },
  { label: "queue p99", text: (v) => known(v.row.queue_p99_ns, formatNs) },
  { label: "CPUs in use", text: (v) => known(cpusOf(v.row), formatRate) },
  { label: "stopped for GC", text: (v) => known(lately(v, "gc"), formatPercent) },
  { label: "failed", text: (v) => formatCount(v.totals.threw), bad: (v) => v.totals.threw > 0 },
  { label: "rejected", text: (v) => formatCount(v.totals.rejected), bad: (v) => v.totals.rejected > 0 },
  { label: "events lost", text: (v) => lostOf(v.row), bad: (v) => v.row.lost + v.row.lost_batches > 0 },
];

// lately is the mean of a series over the last five seconds.
function lately(v: JVM, key: string): number | null {
  const values = v.series.find((s) => s.key === key)?.values.slice(-5).filter((x) => x !== null) ?? [];
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

class JVMView {
  readonly el: HTMLElement;
  private readonly title = h("h1");
  private readonly what = h("span", { class: "what" });
  private readonly report: HTMLAnchorElement;
  private readonly figures = tiles.map(() => h("b", null, unknown));
  private readonly bands = new LiveBands();
  private readonly findings = new LiveFindings();
  private readonly platform = h("input", { type: "checkbox", id: "platform", onchange: () => this.showClasses() });
  private readonly classes = table<Class>("classes", "Classes of tasks", [nameOfClass, ...flowColumns<Class>((c) => c.flow)], (c) => c.name);
  private readonly executors = table<Executor>("executors", "Executors", [nameOfExecutor, workers, ...flowColumns<Executor>((e) => e.flow)], (e) => String(e.id));
  private readonly running = table<Open>("running", "Longest running tasks now", openColumns("Runs for", "Thread"), keyOfOpen, "-age");
  private readonly queued = table<Open>("queued", "Longest queued tasks now", openColumns("Waits for", "Submitted by"), keyOfOpen, "-age");
  private readonly notes = h("ul", { class: "notes note" });
  private readonly window = h("span", { class: "quiet" });
  private last: JVM | undefined;

  constructor(folder: string) {
    setText(this.title, folder);
    this.report = h("a", { class: "button", id: "report-now", href: addressOf(folder) + "/report" }, "Report up to now");
    this.el = h("div", { id: "jvm", "data-folder": folder },
      h("div", { class: "title-line" }, this.title, this.what, this.report),
      h("div", { class: "tiles live" }, ...tiles.map((t, i) => h("div", { class: "tile" }, this.figures[i]!, h("span", null, t.label)))),
      h("div", { class: "livegrid" }, this.bands.el, this.findings.el),
      section("Classes", this.classes.el, this.window, h("label", { class: "check" }, this.platform, "platform classes")),
      section("Executors", this.executors.el),
      h("div", { class: "grid2 now" }, section("Longest running now", this.running.el), section("Longest queued now", this.queued.el)),
      this.notes);
  }

  update(v: JVM): void {
    this.last = v;
    const r = v.row;
    setText(this.title, nameOf(r));
    setText(document.querySelector("title")!, nameOf(r) + " · live");
    setText(this.what, [`pid ${r.pid}`, r.host, v.now_ns > 0 ? "recorded for " + duration(v.now_ns / 1e6) : "", stateOf(r)].filter(Boolean).join(" · "));
    setText(this.report, r.state === "ended" ? "Open the report" : "Report up to now");
    tiles.forEach((t, i) => {
      setText(this.figures[i]!, t.text(v));
      this.figures[i]!.parentElement!.classList.toggle("bad", t.bad?.(v) ?? false);
    });
    this.bands.update(v);
    this.findings.update(v);
    setText(this.window, "over the last " + duration(v.window_ns / 1e6));
    this.showClasses();
    this.executors.setRows(list(v.executors), because(v, "submissions", "No task was submitted to an executor."));
    this.running.setRows(list(v.running), because(v, "running_now", "No task runs now."));
    this.queued.setRows(list(v.queued), because(v, "queued_now", "No task waits now."));
    this.showNotes(v);
  }

  private showClasses(): void {
    const v = this.last;
    if (!v) return;
    const all = list(v.classes);
    const rows = all.filter((c) => !c.platform || this.platform.checked);
    const hidden = all.length - rows.length;
    this.classes.setRows(rows, hidden ? `Only ${plural(hidden, "platform class", "platform classes")} ran tasks.` : "No task ran.");
  }

  private showNotes(v: JVM): void {
    const notes = [...list(v.notes)];
    if (v.totals.since_ns > 0) notes.push(`Counts begin ${duration(v.totals.since_ns / 1e6)} after the session's start: the shadow has not seen what was before.`);
    if (v.row.not_shown > 0) notes.push(`${formatCount(v.row.not_shown)} events are stored, but not in these figures: the live view could not follow.`);
    if (this.notes.childElementCount === notes.length && notes.every((n, i) => this.notes.children[i]!.textContent === harmless(n))) return;
    replace(this.notes, ...notes.map((n) => h("li", null, harmless(n))));
  }
}

// A list without elements may be null in JSON.
function list<T>(l: T[] | null): T[] { return l ?? []; }

function because(v: JVM, key: string, nothing: string): string {
  const reason = (v.missing as Record<string, string> | null)?.[key];
  return reason ? `Not available: ${reason}.` : nothing;
}

function section(title: string, content: Node, ...beside: Node[]): HTMLElement {
  return h("section", { class: "panel live" }, h("div", { class: "panel-head" }, h("h2", null, title), ...beside), content);
}

function table<T>(id: string, label: string, columns: LiveColumn<T>[], keyOf: (row: T) => string, sort = ""): LiveTable<T> {
  return new LiveTable<T>({ id, label, columns, keyOf, sort, empty: "Waiting for the shadow…" });
}

const nameOfClass: LiveColumn<Class> = {
  key: "name", title: "Class", kind: "name", value: (c) => withoutPackages(c.name), text: (c) => withoutPackages(c.name), tip: (c) => c.name,
  below: (c) => [packageOf(c.name), c.summarised ? `${formatCount(c.summarised)} counted without a record each` : "", c.estimated ? "times of a random sample" : ""].filter(Boolean).join(" · "),
};

const nameOfExecutor: LiveColumn<Executor> = {
  key: "name", title: "Executor", kind: "name", value: (e) => e.name, text: (e) => withoutPackages(e.name || e.class),
  tip: (e) => [e.name, e.class, e.site].filter(Boolean).join("\n"),
  below: (e) => (e.site ? "made at " + withoutPackages(e.site) : e.name ? withoutPackages(e.class) : ""),
};

const workers: LiveColumn<Executor> = {
  key: "workers", title: "Threads", doc: "Threads of it that live.", kind: "number", value: (e) => e.workers || null, text: (e) => (e.workers ? formatCount(e.workers) : unknown),
};

function flowColumns<T>(flow: (row: T) => Flow): LiveColumn<T>[] {
  const count = (key: string, title: string, doc: string, of: (f: Flow) => number | null): LiveColumn<T> => ({
    key, title, doc, kind: "number", value: (r) => of(flow(r)), text: (r) => known(of(flow(r)), formatCount),
  });
  const time = (key: string, title: string, doc: string, times: (f: Flow) => Times | null, of: (t: Times) => number): LiveColumn<T> => {
    const value = (r: T): number | null => {
      const t = times(flow(r));
      return t && of(t);
    };
    return { key, title, doc, kind: "number", value, text: (r) => known(value(r), formatNs) };
  };
  return [
    { key: "rate", title: "Tasks/s", doc: "Finished per second; the curve is the last minute.", kind: "course", value: (r) => flow(r).rate, text: (r) => formatRate(flow(r).rate), points: (r) => flow(r).spark },
    count("running", "Running", "Run now.", (f) => f.running),
    count("queued", "Queued", "Wait now.", (f) => f.queued),
    time("queue50", "Queue p50", "Half of the tasks waited at most this long.", (f) => f.queue, (t) => t.p50_ns),
    time("queue99", "Queue p99", "99 of 100 tasks waited at most this long.", (f) => f.queue, (t) => t.p99_ns),
    time("run50", "Run p50", "Half of the tasks ran at most this long.", (f) => f.service, (t) => t.p50_ns),
    time("run99", "Run p99", "99 of 100 tasks ran at most this long.", (f) => f.service, (t) => t.p99_ns),
    count("finished", "Finished", "Finished in the last minute.", (f) => f.finished),
    { ...count("threw", "Failed", "Ended with an exception in the last minute.", (f) => f.threw), fill: (cell, r) => cell.classList.toggle("bad", flow(r).threw > 0) },
    { ...count("rejected", "Rejected", "Rejected by the executor in the last minute.", (f) => f.rejected), fill: (cell, r) => cell.classList.toggle("bad", flow(r).rejected > 0) },
  ];
}

function keyOfOpen(o: Open): string { return [o.task, o.class, o.since_ns].join("\n"); }

function openColumns(age: string, thread: string): LiveColumn<Open>[] {
  return [
    {
      key: "class", title: "Task", kind: "name", value: (o) => o.class, text: (o) => withoutPackages(o.class),
      tip: (o) => [o.class, o.site].filter(Boolean).join("\n"), below: (o) => (o.site ? "submitted at " + withoutPackages(o.site) : packageOf(o.class)),
    },
    { key: "age", title: age, kind: "number", value: (o) => o.age_ns, text: (o) => formatNs(o.age_ns) },
    { key: "executor", title: "Executor", kind: "text", value: (o) => o.executor, text: (o) => withoutPackages(o.executor) || unknown, tip: (o) => o.executor },
    { key: "thread", title: thread, kind: "text", value: (o) => o.thread, text: (o) => o.thread || unknown },
  ];
}
