// The views of services beside the table of top: findings, versions, outliers, trends, sessions.
import { h, note, select } from "./dom";
import { formatBytes, formatCount, formatNs, formatPercent, formatRate, formatRatio, plural } from "./format";
import type { Stored } from "./liveapi";
import { LiveTable, setAttribute, type LiveColumn } from "./livetable";
import { known, serviceName, type Asked } from "./services";

type Sorted = (sort: string) => void;

interface Found { service: string; rule: string; class: string; executor: string; title: string; remedy: string; sessions: number; of: number }

/** findingsView lists findings of sessions, those that most have first. */
export function findingsView(rows: Found[]): Node[] {
  if (!rows.length) return [note("Nothing was found in the sessions that ended in this time.")];
  return [h("ul", { class: "findings", id: "services-findings" }, ...rows.map((f) => h("li", { class: "finding", "data-rule": f.rule },
    h("h2", null, h("span", { class: "badge" }, f.rule.replace(/-/g, " ")), ` ${serviceName(f.service)}, in ${formatCount(f.sessions)} of ${plural(f.of, "session", "sessions")}`),
    h("p", { class: "text" }, f.title + ". " + f.remedy))))];
}

interface Outlier {
  service: string; version: string; instance: string; figure: string; unit: string; value: number; median: number; ratio: number | null; distance: number | null; instances: number;
}

// figure shows a value in its unit: "ns", or "" for counts and shares.
function figure(v: number | null, unit: string): string { return known(v, unit === "ns" ? formatNs : formatRate); }

const figureNames: Record<string, string> = {
  work_ns: "work of an execution", wall_ns: "wall time of an execution", "queue_ns.p99": "queue time, 99th percentile", "response_ns.p99": "response time, 99th percentile",
  wait_share: "waiting, of the wall time", gc_share: "time in GC pauses, of all", threw_share: "ended by an exception, of all", per_hour: "executions an hour",
  executions: "executions", gc_ns: "time in GC pauses", lost: "lost events",
};
const nameOf = (figure: string) => figureNames[figure] ?? figure;

/** outliersView lists instances that are unlike the others. */
export function outliersView(rows: Outlier[], sorted: Sorted, sort: string): Node[] {
  const columns: LiveColumn<Outlier>[] = [
    { key: "instance", title: "Instance", kind: "name", value: (r) => r.instance, text: (r) => r.instance, below: (r) => `${serviceName(r.service)} ${r.version}` },
    { key: "figure", title: "Figure", kind: "text", value: (r) => r.figure, text: (r) => nameOf(r.figure) },
    { key: "value", title: "Value", kind: "number", value: (r) => r.value, text: (r) => figure(r.value, r.unit) },
    { key: "median", title: "Median", doc: "Of all instances of the version.", kind: "number", value: (r) => r.median, text: (r) => figure(r.median, r.unit) },
    { key: "ratio", title: "Ratio", kind: "number", value: (r) => r.ratio, text: (r) => known(r.ratio, formatRatio) },
    { key: "distance", title: "Distance", doc: "From the median in robust standard deviations.", kind: "number", value: (r) => r.distance, text: (r) => known(r.distance, formatRate) },
    { key: "instances", title: "Of", doc: "Instances that were compared.", kind: "number", value: (r) => r.instances, text: (r) => formatCount(r.instances) },
  ];
  const table = new LiveTable<Outlier>({ id: "services-outliers", label: "Outliers", columns, keyOf: (r) => [r.service, r.version, r.instance, r.figure].join("\n"), empty: "", sort, sorted });
  table.setRows(rows, "No instance is unlike the others. Versions with fewer than five instances are not judged.");
  return [table.el];
}

interface Trend {
  service: string; figure: string; unit: string; days: number; last: number | null; per_day: number | null; change: number | null; p: number | null;
  values: { day: string; value: number | null }[];
}

// change shows a relative one; below 0.1 % its sign says nothing.
const change = (v: number) => (Math.abs(v) < 0.001 ? "" : v > 0 ? "+" : "−") + formatPercent(Math.abs(v));

/** trendsView draws how services develop. */
export function trendsView(rows: Trend[], sorted: Sorted, sort: string): Node[] {
  const columns: LiveColumn<Trend>[] = [
    { key: "service", title: "Service", kind: "name", value: (r) => r.service, text: (r) => serviceName(r.service), below: (r) => nameOf(r.figure) },
    { key: "last", title: "Last day", doc: "The value of the last whole day; the curve is from day to day.", kind: "course", value: (r) => r.last, text: (r) => figure(r.last, r.unit), points: (r) => r.values.map((p) => p.value) },
    { key: "days", title: "Days", kind: "number", value: (r) => r.days, text: (r) => formatCount(r.days) },
    { key: "per_day", title: "A day", doc: "The median of the slopes between any two days.", kind: "number", value: (r) => r.per_day, text: (r) => figure(r.per_day, r.unit) },
    { key: "change", title: "Change", doc: "From the first day to the last.", kind: "number", value: (r) => r.change, text: (r) => known(r.change, change) },
    { key: "p", title: "p", doc: "Of the hypothesis that there is no trend.", kind: "number", value: (r) => r.p, text: (r) => known(r.p, (p) => p.toPrecision(2)) },
  ];
  const table = new LiveTable<Trend>({ id: "services-trends", label: "Trends", columns, keyOf: (r) => r.service + "\n" + r.figure, empty: "", sort, sorted });
  table.setRows(rows, "There is no whole day in that time.");
  return [table.el];
}

interface Interval { mean: number | null; low: number | null; high: number | null }
interface DiffFigure { figure: string; unit: string; a: Interval; b: Interval; change: Interval; p_corrected: number | null; verdict: string }
interface DiffRow { name: string; in: string; share: number; figures: DiffFigure[] }
interface Versions {
  version_a: string; version_b: string; judged: number; different: number; note?: string; cautions?: string[];
  a: { runs: number }; b: { runs: number }; rows: DiffRow[];
}

/** versionsView compares two versions. */
export function versionsView(d: Versions, all: string[], set: (part: Partial<Asked>) => void, sorted: Sorted, sort: string): Node[] {
  const names = [...new Set([...all, d.version_a, d.version_b])];
  const choose = (label: string, value: string, part: "a" | "b") => select(label, names.map((n) => ({ value: n, text: n || "(none)" })), value, (v) => set({ a: d.version_a, b: d.version_b, [part]: v }), "version-" + part);
  return [
    h("div", { class: "panel-head" }, choose("A", d.version_a, "a"), choose("B", d.version_b, "b"),
      h("span", { class: "quiet" }, `${plural(d.a.runs, "instance", "instances")} against ${plural(d.b.runs, "instance", "instances")}; ${formatCount(d.different)} of ${formatCount(d.judged)} judged figures are different`)),
    ...(d.cautions ?? []).map((c) => note("Caution: " + c)), ...(d.note ? [note(d.note)] : []),
    versionsTable(d.rows, sorted, sort),
  ];
}

interface Line { row: DiffRow; f: DiffFigure }

function versionsTable(rows: DiffRow[], sorted: Sorted, sort: string): Node {
  const lines = rows.flatMap((row) => row.figures.map((f) => ({ row, f })));
  const columns: LiveColumn<Line>[] = [
    { key: "name", title: "Class", kind: "name", value: (l) => l.row.name, text: (l) => l.row.name, below: (l) => nameOf(l.f.figure) + (l.row.in === "both" ? "" : l.row.in === "a" ? " · in A only" : " · in B only") },
    { key: "a", title: "A", kind: "number", value: (l) => l.f.a.mean, text: (l) => figure(l.f.a.mean, l.f.unit) },
    { key: "b", title: "B", kind: "number", value: (l) => l.f.b.mean, text: (l) => figure(l.f.b.mean, l.f.unit) },
    { key: "change", title: "Change", kind: "number", value: (l) => l.f.change.mean, text: (l) => known(l.f.change.mean, change) },
    {
      key: "interval", title: "95 % interval", kind: "text",
      text: (l) => (l.f.change.low === null || l.f.change.high === null ? "–" : `${change(l.f.change.low)} to ${change(l.f.change.high)}`),
    },
    { key: "p", title: "p", doc: "Corrected for all figures that were judged.", kind: "number", value: (l) => l.f.p_corrected, text: (l) => known(l.f.p_corrected, (p) => p.toPrecision(2)) },
    { key: "verdict", title: "Verdict", kind: "text", value: (l) => l.f.verdict, text: (l) => l.f.verdict.replace(/_/g, " "), fill: (cell, l) => cell.classList.toggle("some", l.f.verdict === "different") },
  ];
  const table = new LiveTable<Line>({ id: "services-versions", label: "Two versions", columns, keyOf: (l) => l.row.name + "\n" + l.f.figure, empty: "", sort, sorted });
  table.setRows(lines, "The two have nothing in common.");
  return table.el;
}

/** sessionsView lists sessions of the store. */
export function sessionsView(rows: Stored[], sorted: Sorted, sort: string): Node[] {
  const columns: LiveColumn<Stored>[] = [
    { key: "name", title: "Session", kind: "name", value: (r) => r.name, text: (r) => r.name, href: (r) => r.report ?? null, below: (r) => [r.version, r.env, r.instance, r.host].filter(Boolean).join(" · ") },
    { key: "started", title: "Started", kind: "text", value: (r) => r.started, text: (r) => r.started.slice(0, 16).replace("T", " ") },
    { key: "duration", title: "Lasted", kind: "number", value: (r) => r.duration_ns, text: (r) => (r.duration_ns > 0 ? formatNs(r.duration_ns) : "–") },
    { key: "executions", title: "Executions", kind: "number", value: (r) => r.executions, text: (r) => formatCount(r.executions) },
    { key: "bytes", title: "Size", kind: "number", value: (r) => r.bytes, text: (r) => formatBytes(r.bytes) },
    { key: "state", title: "State", kind: "text", value: (r) => r.state, text: (r) => r.state },
  ];
  const table = new LiveTable<Stored>({ id: "services-sessions", label: "Sessions in the store", columns, keyOf: (r) => r.id, empty: "", sort, sorted, mark: (tr, r) => setAttribute(tr, "data-session", r.session) });
  table.setRows(rows, "No session of this service is in the store; roll-ups stay longer than sessions.");
  return [table.el];
}
