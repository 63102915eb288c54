// The stacks on which tasks were created, submitted and executed, as flame graphs.
import flamegraph, { type Drawn, type FlameGraph, type Frame } from "d3-flame-graph";
import { select as select3 } from "d3-selection";
import { missing, shortOf, type App } from "./app";
import type { Contexts } from "./data";
import { button, h, note, replace, select } from "./dom";
import { formatCount, formatNs, formatPercent, plural } from "./format";
import type { State } from "./state";
import { onTheme } from "./theme";
import type { Shown } from "./views";

const kindNames: Record<string, string> = { execution: "where they were executed", creation: "where they were created", submission: "where they were submitted" };
const valueNames = { count: "number", cpu: "CPU time", wall: "wall time" } as const;
type Value = keyof typeof valueNames;

interface Node extends Frame { children: Node[]; byFrame: Map<number, Node> }

function valueOf(st: Contexts["stacks"][number], v: Value): number { return v === "cpu" ? st.cpu_ns : v === "wall" ? st.wall_ns : st.count; }

// treeOf adds up stacks with the same callers.
function treeOf(c: Contexts, kind: string, classIndex: number, value: Value, tops: (i: number) => string): Node {
  const node = (name: string): Node => ({ name, value: 0, children: [], byFrame: new Map() });
  const root = node("all stacks");
  for (const st of c.stacks) {
    const v = valueOf(st, value);
    if (st.kind !== kind || (classIndex >= 0 && st.class !== classIndex) || !(v > 0)) continue;
    let at = root;
    at.value += v;
    const path = classIndex < 0 && st.class >= 0 ? [...st.frames, -1 - st.class] : st.frames;
    for (const f of path) {
      let next = at.byFrame.get(f);
      if (!next) {
        next = node(f >= 0 ? c.frames[f] ?? "?" : tops(-1 - f));
        at.byFrame.set(f, next);
        at.children.push(next);
      }
      next.value += v;
      at = next;
    }
  }
  return root;
}

function depthOf(n: Node): number { return 1 + Math.max(0, ...n.children.map(depthOf)); }

/** Flame is a flame graph with its choices. */
export class Flame {
  readonly el: HTMLElement;
  private readonly holder = h("div", { class: "flame", tabindex: 0, role: "group", "aria-label": "Flame graph" }); // it scrolls where it is narrow
  private readonly choices = h("div", { class: "panel-head" });
  private readonly about = note();
  private readonly list = h("details", null, h("summary", null, "As a list"));
  private graph: FlameGraph | undefined;
  private root: Node | undefined;
  private width = 0;
  private find = "";

  constructor(private readonly app: App, private readonly classIndex: () => number, private readonly title: string) {
    this.el = h("section", { class: "panel", id: "contexts" }, this.choices, this.holder, this.about, this.list);
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.holder.clientWidth === this.width) return;
      this.width = this.holder.clientWidth;
      this.draw();
    })).observe(this.holder);
    onTheme(() => { if (this.el.isConnected) this.draw(); });
    this.update(app.state);
  }

  /** update shows a state. */
  update(st: State): void {
    const c = this.app.data.contexts;
    replace(this.choices, h("h2", null, this.title));
    if (!c) {
      replace(this.holder, missing(this.app.data, "contexts", "Where tasks were created and executed is"));
      this.list.hidden = true;
      return;
    }
    const kinds = Object.keys(kindNames).filter((k) => c.stacks.some((x) => x.kind === k && (this.classIndex() < 0 || x.class === this.classIndex())));
    const kind = kinds.includes(st.kind) ? st.kind : kinds[0] ?? "execution";
    const values = (Object.keys(valueNames) as Value[]).filter((v) => c.stacks.some((x) => x.kind === kind && valueOf(x, v) > 0));
    const value = values.includes(st.value as Value) ? (st.value as Value) : values.includes("cpu") ? "cpu" : values[0] ?? "count";
    const set = this.app.store.set.bind(this.app.store);
    if (kinds.length > 1) this.choices.append(select("Stacks", kinds.map((k) => ({ value: k, text: kindNames[k]! })), kind, (k) => set({ kind: k }), "context-kind"));
    if (values.length > 1) this.choices.append(select("Width", values.map((v) => ({ value: v, text: valueNames[v] })), value, (v) => set({ value: v }), "context-value"));
    const find = h("input", { type: "search", class: "table-find", name: "highlight", placeholder: "Highlight frames", "aria-label": "Highlight frames" });
    find.value = this.find;
    find.addEventListener("input", () => { this.find = find.value; this.highlight(); });
    this.choices.append(find, button("Whole graph", () => this.graph?.resetZoom(), { class: "button" }));
    this.root = treeOf(c, kind, this.classIndex(), value, (i) => shortOf(this.app.tasks.nameAt("class", i)));
    this.about.textContent = (c.every > 1 ? `One event in ${formatCount(c.every)} was looked at. ` : "") + "The stacks are of the whole session: they do not follow the window. Click on a frame to see what is above it." +
      (c.more > 0 ? ` ${plural(c.more, "rare stack", "rare stacks")} omitted.` : "");
    this.format = value === "count" ? formatCount : formatNs;
    this.showList();
    this.draw();
  }

  private format: (v: number) => string = formatCount;

  private draw(): void {
    if (!this.root || !this.width) return;
    if (this.graph) this.graph.destroy();
    replace(this.holder);
    if (!this.root.value) {
      this.holder.append(h("p", { class: "missing" }, "No stack of these was recorded."));
      return;
    }
    const whole = this.root.value;
    const own = packagesOf(this.root);
    this.graph = flamegraph().width(Math.max(320, this.width)).cellHeight(20).minFrameSize(2).transitionDuration(0).sort(true).title("")
      .tooltip(false).selfValue(false).getName((f) => f.data.name).setLabelHandler((f) => `${f.data.name}, ${this.format(f.value)}, ${formatPercent(f.value / whole)}`)
      .setColorMapper((f) => colorOfFrame(f, own));
    select3<HTMLElement, unknown>(this.holder).datum(this.root as unknown).call(this.graph as never);
    const svg = this.holder.querySelector("svg");
    svg?.setAttribute("role", "img");
    svg?.setAttribute("aria-label", `Flame graph of ${this.title}, ${depthOf(this.root)} frames deep. The list below has the same figures.`);
    this.highlight();
  }

  private highlight(): void {
    if (!this.graph) return;
    if (this.find) this.graph.search(this.find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    else this.graph.clear();
  }

  // showList has the heaviest stacks as text, for those who do not see the graph.
  private showList(): void {
    const rows: { path: string[]; value: number }[] = [];
    const walk = (n: Node, path: string[]): void => {
      const own = n.value - n.children.reduce((sum, c) => sum + c.value, 0);
      if (own > 0 && path.length) rows.push({ path, value: own });
      n.children.forEach((c) => walk(c, [...path, c.name]));
    };
    if (this.root) walk(this.root, []);
    rows.sort((a, b) => b.value - a.value);
    replace(this.list, h("summary", null, "As a list"), h("ol", { class: "stacks" }, ...rows.slice(0, 20).map((r) =>
      h("li", null, h("b", null, this.format(r.value)), " ", h("code", null, [...r.path].reverse().join(" ← "))))));
  }
}

// packagesOf is the package in which most of the time outside of the JDK is.
function packagesOf(root: Node): string {
  const sums = new Map<string, number>();
  const walk = (n: Node): void => {
    const p = packageOf(n.name);
    if (!platform(p)) sums.set(p, (sums.get(p) ?? 0) + n.value);
    n.children.forEach(walk);
  };
  walk(root);
  return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function packageOf(name: string): string { return name.split(".").slice(0, 2).join("."); }

function platform(name: string): boolean { return /^(java|javax|jdk|sun|com\.sun)\b/.test(name); }

// The program's frames are warm, those of libraries blue, those of the JDK grey: light enough for dark text.
function colorOfFrame(f: Drawn, own: string): string {
  const name = f.data.name;
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) & 1023;
  const shade = (sum / 1023) * 8;
  if (f.depth === 0) return "#d3d4d8";
  if (platform(name)) return `hsl(220 8% ${80 + shade / 2}%)`;
  return packageOf(name) === own ? `hsl(${34 + shade} 88% ${66 + shade}%)` : `hsl(203 58% ${70 + shade}%)`;
}

/** contextsView makes the view. */
export function contextsView(app: App): Shown {
  const flame = new Flame(app, () => (app.state.filters.class ? app.tasks.indexOf("class", app.state.filters.class) : -1), "Contexts");
  return { els: [flame.el], update: (st) => flame.update(st) };
}
