// The services of a fleet: what their roll-ups say, and the way down to sessions. All of it is in the fragment of the address.
import { button, h, note, replace, s, select } from "./dom";
import { formatBytes, formatCount, formatNs, formatPercent, plural } from "./format";
import { ask } from "./liveapi";
import { announce } from "./livehead";
import { harmless, LiveTable, setAttribute, type LiveColumn } from "./livetable";
import { findingsView, outliersView, sessionsView, trendsView, versionsView } from "./servicesviews";
import { modeButton } from "./theme";

/** Answer is what the shadow gives to a question. */
export interface Answer<R> {
  from: string;
  to: string;
  asked: string;
  took_ns: number;
  requests: number;
  bytes: number;
  files: number;
  read: number;
  missing: { what: string; why: string }[];
  lacking: number;
  total: number;
  rows: R;
}

/** TopRow is a row of shadow fleet top. */
interface TopRow {
  service: string;
  name: string;
  version: string;
  instances: number | null;
  executions: number;
  threw: number;
  work_ns: number | null;
  share: number | null;
  work_mean_ns: number | null;
  wall_p50_ns: number | null;
  wall_p99_ns: number | null;
  queue_p99_ns: number | null;
  response_p99_ns: number | null;
  wait_ns: number | null;
  lost: number;
  last: string;
}

const views = [
  { view: "top", text: "Top" }, { view: "findings", text: "Findings" }, { view: "versions", text: "Versions" },
  { view: "outliers", text: "Outliers" }, { view: "trends", text: "Trends" }, { view: "sessions", text: "Sessions" },
] as const;
const spans = [["6h", "6 hours"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["52w", "1 year"]] as const;
const groupings = [
  ["class", "class"], ["executor", "executor"], ["site", "call site"], ["wait", "wait"], ["instance", "instance"], ["version", "version"], ["env", "environment"],
  ["service", "service"], ["session", "session"], ["day", "day"],
] as const;
// What the shadow sorts by, where an answer has not all rows.
const weights: Record<string, string> = {
  work_ns: "work", share: "work", executions: "count", queue_p99_ns: "queue", response_p99_ns: "response", wait_ns: "wait", lost: "lost", name: "name",
};

/** Asked is what the address says. */
export interface Asked { view: string; service: string; last: string; by: string; sort: string; a: string; b: string }

const start: Asked = { view: "top", service: "", last: "7d", by: "class", sort: "", a: "", b: "" };

function parse(fragment: string): Asked {
  const p = new URLSearchParams(fragment.replace(/^#/, ""));
  const st = { ...start };
  for (const key of Object.keys(st) as (keyof Asked)[]) st[key] = p.get(key) ?? st[key];
  if (!views.some((v) => v.view === st.view)) st.view = "top";
  if (!groupings.some(([by]) => by === st.by)) st.by = "class";
  if (!spans.some(([last]) => last === st.last)) st.last = "7d";
  return st;
}

function link(st: Asked): string {
  const p = new URLSearchParams();
  for (const [key, v] of Object.entries(st) as [keyof Asked, string][]) if (v !== start[key]) p.set(key, v);
  return "#" + p.toString();
}

/** known shows a figure that may not be known. */
export function known(v: number | null, show: (v: number) => string): string { return v === null ? "–" : show(v); }

/** serviceName is how a service is called. */
export function serviceName(service: string): string { return service || "(no service)"; }

/** costOf says what an answer is about and what it cost. */
function costOf(a: Answer<unknown>): string {
  const day = (t: string) => t.slice(0, 16).replace("T", " ");
  return `${day(a.from)} to ${day(a.to)} UTC: ${plural(a.read, "row", "rows")} of roll-ups in ${plural(a.files, "file", "files")}, ` +
    `${plural(a.requests, "request", "requests")}, ${formatBytes(a.bytes)}, ${formatNs(a.took_ns)}; as of ${day(a.asked)} UTC`;
}

/** servicesPage shows the services in main. */
export function servicesPage(main: HTMLElement): void { new Services(main).start(); }

class Services {
  private st = parse(location.hash);
  private turn = 0;
  private services: string[] = [];
  private readonly nav = h("nav", { "aria-label": "Views" });
  private readonly filters = h("div", { id: "services-filters", class: "panel-head" });
  private readonly view = h("div", { id: "services-view" });
  private readonly cost = h("p", { class: "note", id: "services-cost" });
  private readonly lacking = h("p", { class: "fault", id: "services-missing", hidden: true });
  private readonly trouble = h("p", { class: "fault", id: "services-trouble", role: "alert", hidden: true });
  private readonly title = h("h1", { id: "services-title", class: "services-title" });

  constructor(main: HTMLElement) {
    document.body.prepend(h("header", { class: "top livetop" }, h("a", { class: "skip", href: "#main", onclick: (e: Event) => { e.preventDefault(); main.focus(); } }, "Skip to the figures"),
      h("a", { class: "home", href: "/" }, "All sessions"), h("a", { class: "brand", href: "/services", "aria-current": "page" }, "services"), this.nav, h("div", { class: "tools" }, modeButton())));
    replace(main, h("section", { class: "panel", "aria-labelledby": "services-title" }, this.title, this.filters, this.trouble, this.lacking, this.view, this.cost));
  }

  start(): void {
    addEventListener("hashchange", () => { this.st = parse(location.hash); void this.show(); });
    void this.names();
    void this.show();
  }

  private set(part: Partial<Asked>): void { location.hash = link({ ...this.st, ...part }); }

  private address(path: string, more: Record<string, string> = {}): string {
    const p = new URLSearchParams({ last: this.st.last, ...more });
    if (this.st.service) p.set("service", this.st.service);
    return path + "?" + p.toString();
  }

  // names asks which services there are.
  private async names(): Promise<void> {
    try {
      const a = (await (await ask("/services.json?by=service&sort=name&last=" + this.st.last)).json()) as Answer<TopRow[]>;
      this.services = a.rows.map((r) => r.service || "unknown");
      this.head();
    } catch {
      // The answer to the other question says what is wrong.
    }
  }

  private head(): void {
    const st = this.st;
    const root = document.documentElement;
    root.dataset["view"] = st.view;
    root.dataset["name"] = st.service;
    const text = (views.find((v) => v.view === st.view) ?? views[0]).text;
    this.title.textContent = harmless(st.service ? `${st.service}: ${text.toLowerCase()}` : text);
    document.title = (st.service ? harmless(st.service) + " - " : "") + "services - stackagent";
    replace(this.nav, ...views.map((v) => h("a", { href: link({ ...st, view: v.view, sort: "" }), "data-view": v.view, "aria-current": v.view === st.view ? "page" : null }, v.text)));
    const names = [...new Set([...this.services, ...(st.service ? [st.service] : [])])].sort();
    const focused = document.activeElement?.id ?? "";
    replace(this.filters,
      select("Service", [{ value: "", text: "all services" }, ...names.map((n) => ({ value: n, text: n === "unknown" ? "(no service)" : harmless(n) }))], st.service, (service) => this.set({ service, a: "", b: "" }), "service"),
      st.view !== "sessions" && select("Time", spans.map(([value, text]) => ({ value, text })), st.last, (last) => this.set({ last }), "last"),
      st.view === "top" && select("By", groupings.map(([value, text]) => ({ value, text })), st.by, (by) => this.set({ by, sort: "" }), "by"));
    if (focused && this.filters.querySelector("#" + CSS.escape(focused))) document.getElementById(focused)?.focus();
  }

  private async show(): Promise<void> {
    const turn = ++this.turn;
    this.head();
    document.documentElement.dataset["state"] = "loading";
    this.view.setAttribute("aria-busy", "true");
    this.cost.textContent = "Asking…";
    try {
      const shown = await this.ask();
      if (turn !== this.turn) return;
      this.trouble.replaceChildren();
      this.trouble.hidden = true;
      replace(this.view, ...shown.els);
      this.about(shown.answer);
    } catch (e) {
      if (turn !== this.turn) return;
      this.view.replaceChildren();
      this.cost.textContent = "";
      this.lacking.hidden = true;
      this.trouble.hidden = false;
      this.trouble.replaceChildren(harmless(e instanceof Error ? e.message : String(e)), " ", button("Try again", () => void this.show(), { class: "button" }));
    }
    this.view.removeAttribute("aria-busy");
    document.documentElement.dataset["state"] = "ready";
  }

  private about(a: Answer<unknown> | null): void {
    this.cost.textContent = a ? costOf(a) : "";
    this.lacking.hidden = !a || a.lacking === 0;
    if (a && a.lacking > 0) {
      this.lacking.textContent = harmless(`The answer lacks ${plural(a.lacking, "object", "objects")} of the store` + a.missing.map((m) => `; ${m.what}: ${m.why}`).join(""));
    }
    announce("Answered");
  }

  private async ask(): Promise<{ els: Node[]; answer: Answer<unknown> | null }> {
    const get = async <R>(path: string, more: Record<string, string> = {}): Promise<Answer<R>> => (await (await ask(this.address(path, more))).json()) as Answer<R>;
    const st = this.st;
    switch (st.view) {
      case "findings": { const answer = await get<never[]>("/services/findings.json"); return { els: findingsView(answer.rows), answer }; }
      case "outliers": { const answer = await get<never[]>("/services/outliers.json"); return { els: outliersView(answer.rows, (sort) => this.sorted(sort), st.sort), answer }; }
      case "trends": { const answer = await get<never[]>("/services/trends.json"); return { els: trendsView(answer.rows, (sort) => this.sorted(sort), st.sort), answer }; }
      case "versions": {
        if (!st.service) return { els: [note("Choose a service: two of its versions are compared.")], answer: null };
        const more: Record<string, string> = {};
        if (st.a) more["a"] = st.a;
        if (st.b) more["b"] = st.b;
        const [answer, all] = await Promise.all([get<never>("/services/versions.json", more), get<{ name: string }[]>("/services.json", { by: "version", sort: "name" })]);
        return { els: versionsView(answer.rows, all.rows.map((r) => r.name), (part) => this.set(part), (sort) => this.sorted(sort), st.sort), answer };
      }
      case "sessions": {
        if (!st.service) return { els: [note("Choose a service: its newest sessions in the store are listed.")], answer: null };
        const rows = (await (await ask("/services/sessions.json?" + new URLSearchParams({ service: st.service === "unknown" ? "" : st.service }).toString())).json()) as never[];
        return { els: sessionsView(rows, (sort) => this.sorted(sort), st.sort), answer: null };
      }
    }
    const answer = await get<TopRow[]>("/services.json", { by: st.by, sort: weights[st.sort.replace(/^-/, "")] ?? (st.by === "wait" ? "wait" : "work") });
    return { els: this.top(answer), answer };
  }

  // sorted keeps the order of a table in the address, without asking again.
  private sorted(sort: string): void {
    this.st = { ...this.st, sort };
    history.replaceState(null, "", link(this.st));
  }

  private top(a: Answer<TopRow[]>): Node[] {
    const st = this.st;
    const most = Math.max(...a.rows.map((r) => r.share ?? 0), 1e-9);
    const number = (key: keyof TopRow & string, title: string, doc: string, show: (v: number) => string): LiveColumn<TopRow> => ({
      key, title, doc, kind: "number", value: (r) => r[key] as number | null, text: (r) => known(r[key] as number | null, show),
    });
    const share: LiveColumn<TopRow> = {
      key: "share", title: "Share", doc: "Of the work of all rows.", kind: "course", value: (r) => r.share, text: (r) => known(r.share, formatPercent),
      fill: (cell, r) => {
        let bar = cell.querySelector("rect");
        if (!bar) {
          const svg = s("svg", { class: "sharebar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, (bar = s("rect", { height: 10 })));
          cell.prepend(svg);
        }
        setAttribute(bar, "width", String((100 * (r.share ?? 0)) / most));
      },
    };
    const wait = st.by === "wait";
    const title = groupings.find(([by]) => by === st.by)?.[1] ?? st.by;
    const columns: LiveColumn<TopRow>[] = [
      {
        key: "name", title: title.charAt(0).toUpperCase() + title.slice(1), kind: "name",
        value: (r) => (st.by === "service" ? r.service : r.name), text: (r) => (st.by === "service" ? serviceName(r.service) : r.name || "(none)"),
        below: (r) => [st.service || st.by === "service" ? "" : serviceName(r.service), r.version && st.by !== "version" ? "version " + r.version : "", r.instances && st.by !== "instance" && st.by !== "session" ? plural(r.instances, "instance", "instances") : ""].filter(Boolean).join(" · "),
        href: (r) => this.down(r),
      },
      ...(wait ? [] : [
        number("executions", "Executions", "Executions that ended.", formatCount),
        number("work_ns", "Work", "CPU time of their own; wall time where CPU time was not measured.", formatNs),
        share,
        number("work_mean_ns", "Mean", "Mean work of an execution.", formatNs),
        number("wall_p50_ns", "Wall p50", "Median wall time.", formatNs),
        number("wall_p99_ns", "Wall p99", "99th percentile of the wall time.", formatNs),
        number("queue_p99_ns", "Queue p99", "99th percentile of the time in queues.", formatNs),
        number("response_p99_ns", "Resp. p99", "99th percentile of queue time and wall time together.", formatNs),
      ]),
      number("wait_ns", "Waits", "Time that threads waited.", formatNs),
      ...(["class", "executor", "site", "wait"].includes(st.by) ? [] : [number("lost", "Lost", "Events that were lost.", formatCount)]),
    ];
    const table = new LiveTable<TopRow>({
      id: "services-top", label: "Roll-ups by " + st.by, columns, keyOf: (r) => [r.service, r.name, r.version].join("\n"), empty: "", sort: st.sort, sorted: (sort) => this.sorted(sort),
      mark: (tr, r) => { setAttribute(tr, "data-service", r.service); setAttribute(tr, "data-name", r.name); },
    });
    table.setRows(a.rows, "There are no roll-ups of this in that time.");
    return [table.el, ...(a.total > a.rows.length ? [note(`${formatCount(a.total - a.rows.length)} more, which are less, are not shown; shadow fleet top --format csv lists them.`)] : [])];
  }

  // down is where a row leads: from a service to its classes, from an instance or a version to the sessions, from a session to its report.
  private down(r: TopRow): string | null {
    const service = r.service || "unknown";
    switch (this.st.by) {
      case "service": return link({ ...this.st, service, by: "class", sort: "" });
      case "session": return "/stored?" + new URLSearchParams({ service: r.service, session: r.name, day: r.last.slice(0, 10) }).toString();
      case "instance": case "version": case "env": return link({ ...this.st, service, by: "session", sort: "" });
    }
    return this.st.service ? null : link({ ...this.st, service });
  }
}
