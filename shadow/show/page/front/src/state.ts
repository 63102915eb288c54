// The state of the page is in the fragment of its address, so that each view can be linked
// and the browser's buttons work. What a link has and this version does not know is ignored.

export const dimensions = ["class", "executor", "site", "thread"] as const;
export type Dimension = (typeof dimensions)[number];

export const views = [
  "overview", "class", "executor", "site", "thread", "lanes", "waits", "bottle", "stack", "contexts", "gc", "vertical", "compare",
] as const;
export type View = (typeof views)[number];

/** State is what the page shows. Times are nanoseconds since the session's start. */
export interface State {
  view: View;
  name: string;
  /** The window: what tables and figures are about. Both 0: all of the session. */
  from: number;
  to: number;
  /** The part of the time axis in sight. Both 0: all of it. */
  zoomFrom: number;
  zoomTo: number;
  /** The key of the measure that tables and distributions show; "": the first. */
  measure: string;
  /** Filters by name; "": none. */
  filters: Record<Dimension, string>;
  /** Rows of the platform are shown. */
  platform: boolean;
  /** Orders of tables and what is searched for in them, by id of the table. */
  sort: Record<string, string>;
  find: Record<string, string>;
  /** Series that are switched off, as band.key. */
  hidden: string[];
  /** Monitors that are bands on the time axis, by name. */
  monitors: string[];
  /** A row that the view's row is compared with; "": none. */
  versus: string;
  /** When a task that is shown in its lane began; -1: none. */
  task: number;
  /** Of the contexts: kind and value. */
  kind: string;
  value: string;
  /** The folder of the session that this one is compared with, under "shadow serve". */
  with: string;
}

/** noState is the first screen. */
export function noState(): State {
  return {
    view: "overview", name: "", from: 0, to: 0, zoomFrom: 0, zoomTo: 0, measure: "",
    filters: { class: "", executor: "", site: "", thread: "" }, platform: false, sort: {}, find: {}, hidden: [], monitors: [], versus: "", task: -1,
    kind: "", value: "", with: "",
  };
}

/** parse reads a fragment. */
export function parse(fragment: string): State {
  const st = noState();
  const p = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = p.get("view") as View | null;
  if (view && views.includes(view)) st.view = view;
  st.name = p.get("name") ?? "";
  [st.from, st.to] = range(p.get("from"), p.get("to"));
  const zoom = (p.get("zoom") ?? "").split("-");
  [st.zoomFrom, st.zoomTo] = range(zoom[0] ?? null, zoom[1] ?? null);
  st.measure = p.get("measure") ?? "";
  for (const d of dimensions) st.filters[d] = p.get("filter-" + d) ?? "";
  st.platform = p.get("platform") === "1";
  for (const [key, value] of p) {
    if (key.startsWith("sort-")) st.sort[key.slice(5)] = value;
    if (key.startsWith("find-")) st.find[key.slice(5)] = value;
  }
  st.hidden = (p.get("hide") ?? "").split(" ").filter(Boolean);
  st.monitors = p.getAll("monitor");
  st.versus = p.get("versus") ?? "";
  st.task = number(p.get("task"), -1);
  st.kind = p.get("kind") ?? "";
  st.value = p.get("value") ?? "";
  st.with = p.get("with") ?? "";
  return st;
}

function number(s: string | null, otherwise: number): number {
  const v = s ? Number(s) : NaN;
  return Number.isFinite(v) && v >= 0 ? v : otherwise;
}

function range(from: string | null, to: string | null): [number, number] {
  const a = number(from, 0);
  const b = number(to, 0);
  return b > a ? [a, b] : [0, 0];
}

/** print writes a fragment, leaving out what is as at first. */
export function print(st: State): string {
  const p = new URLSearchParams();
  const put = (key: string, value: string) => {
    if (value) p.set(key, value);
  };
  if (st.view !== "overview") put("view", st.view);
  put("name", st.name);
  if (st.to > 0) {
    p.set("from", String(Math.round(st.from)));
    p.set("to", String(Math.round(st.to)));
  }
  if (st.zoomTo > 0) p.set("zoom", `${Math.round(st.zoomFrom)}-${Math.round(st.zoomTo)}`);
  put("measure", st.measure);
  for (const d of dimensions) put("filter-" + d, st.filters[d]);
  if (st.platform) p.set("platform", "1");
  for (const [id, v] of Object.entries(st.sort)) put("sort-" + id, v);
  for (const [id, v] of Object.entries(st.find)) put("find-" + id, v);
  put("hide", st.hidden.join(" "));
  for (const name of st.monitors) p.append("monitor", name);
  put("versus", st.versus);
  if (st.task >= 0) p.set("task", String(Math.round(st.task)));
  put("kind", st.kind);
  put("value", st.value);
  put("with", st.with);
  const text = p.toString();
  return text ? "#" + text : "#";
}

/** Changes are properties of a state that differ. */
export type Changes = Partial<State>;

/** Store holds the state and says when it changed. */
export class Store {
  state: State = parse(location.hash);
  private readonly listeners: ((now: State, before: State) => void)[] = [];

  constructor() {
    addEventListener("popstate", () => this.take(parse(location.hash)));
    addEventListener("hashchange", () => this.take(parse(location.hash)));
  }

  /** listen calls f after each change. */
  listen(f: (now: State, before: State) => void): void { this.listeners.push(f); }

  /** set changes the state: a step for the browser's back button, unless it is quiet. */
  set(changes: Changes, quiet = false): void {
    const next = { ...this.state, ...changes };
    const fragment = print(next);
    if (fragment === print(parse(location.hash))) return this.take(next);
    if (quiet) history.replaceState(null, "", fragment);
    else history.pushState(null, "", fragment);
    this.take(next);
  }

  /** preview changes the state for now: what is kept is set when it is done. */
  preview(changes: Changes): void { this.take({ ...this.state, ...changes }); }

  /** link is the fragment with changes, for an href. */
  link(changes: Changes): string { return print({ ...this.state, ...changes }); }

  private take(next: State): void {
    if (print(next) === print(this.state)) return;
    const before = this.state;
    this.state = next;
    for (const f of this.listeners) f(next, before);
  }
}
