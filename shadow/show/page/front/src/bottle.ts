// The bottle graph of the window: a box for each thread. Its height is the thread's share of
// the time, its width how many threads ran at the same time.
import { missing, type App } from "./app";
import { h, replace, s } from "./dom";
import { formatNs, formatRate } from "./format";
import type { State } from "./state";
import { Table } from "./tables";
import { paintOf, svgFill, swatch } from "./theme";
import { hideTip, showTip, tipTable } from "./tip";
import type { Shown } from "./views";

interface Box { label: string; kind: string; thread: number; count: number; running: number; height: number; width: number }

/** boxesOf are the boxes of the slots, the widest first. */
export function boxesOf(app: App, st: State): Box[] {
  const b = app.data.bottle!;
  const [from, to] = app.tasks.slots(st.from, st.to);
  const running = new Float64Array(b.threads.length);
  const height = new Float64Array(b.threads.length);
  for (let i = 0; i < b.slot.length; i++) {
    if (b.slot[i]! < from || b.slot[i]! >= to) continue;
    running[b.thread[i]!]! += b.running[i]!;
    height[b.thread[i]!]! += b.height[i]!;
  }
  return b.threads.map((t, i) => ({ ...t, running: running[i]!, height: height[i]!, width: height[i]! > 0 ? running[i]! / height[i]! : 0 }))
    .filter((x) => x.height > 0).sort((a, b) => b.width - a.width || b.height - a.height);
}

/** bottleView makes the view. */
export function bottleView(app: App): Shown {
  if (!app.data.bottle) return { els: [h("section", { class: "panel", id: "bottle" }, h("h2", null, "Bottle graph"), missing(app.data, "bottle", "The bottle graph is"))], update: () => undefined };
  const holder = h("div", { class: "bottle" });
  const lead = h("p", { class: "lead" });
  const legend = h("div", { class: "legend" });
  const table = boxTable(app);
  const update = (st: State) => {
    const boxes = boxesOf(app, st);
    const tall = boxes.filter((b) => b.width < 1.5 && (b.kind === "application" || b.kind === "main")).sort((a, b) => b.height - a.height)[0];
    const whole = boxes.reduce((n, b) => n + b.height, 0);
    lead.textContent = tall && whole && tall.height / whole > 0.25
      ? `${tall.label} ran mostly alone, for ${formatNs(tall.height)} of the ${formatNs(whole)} in which anything ran.`
      : whole ? `No thread ran alone for long. ${formatRate(boxes.reduce((n, b) => n + b.running, 0) / whole)} threads ran at the same time on average.` : "Nothing ran in this window.";
    const kinds = [...new Set(boxes.map((b) => b.kind))];
    replace(legend, ...kinds.map((k) => h("span", { class: "key" }, swatch(paintOf(k)), h("span", null, k))));
    replace(holder, draw(boxes, whole));
    table.setRows(boxes);
  };
  update(app.state);
  return {
    els: [h("section", { class: "panel", id: "bottle" }, h("h2", null, "Bottle graph"), lead, legend,
      h("figure", null, holder, h("figcaption", null, "A box is a thread. Its height is its share of the time in which anything ran; its width is the average number of threads running at the same time, itself included. A tall, narrow box is a thread that ran mostly alone: your sequential bottleneck."))),
    h("section", { class: "panel" }, h("h2", null, "Boxes"), table.el)],
    update,
  };
}

function draw(boxes: Box[], whole: number): SVGSVGElement {
  const [width, height, axis, pad] = [900, 460, 34, 10];
  const widest = Math.max(1, ...boxes.map((b) => b.width));
  const middle = width / 2;
  const scale = (width * 0.56) / 2 / widest;
  const svg = s("svg", { class: "whole", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "Bottle graph. " + boxes.slice(0, 8).map((b) => `${b.label}: ${formatNs(b.height)} high, ${formatRate(b.width)} wide`).join("; ") });
  const step = widest > 12 ? Math.ceil(widest / 6) : widest > 5 ? 2 : 1;
  for (let w = 0; w <= widest; w += step) {
    for (const side of w ? [-1, 1] : [1]) {
      const x = middle + side * w * scale;
      svg.append(s("line", { x1: x, x2: x, y1: pad, y2: height - axis, stroke: "var(--grid)" }),
        s("text", { x, y: height - axis + 16, "text-anchor": "middle", class: "quiet" }, String(w)));
    }
  }
  svg.append(s("text", { x: middle, y: height - 3, "text-anchor": "middle", class: "quiet" }, "threads running at the same time"));
  let y = height - axis;
  let lastLabel = Infinity;
  for (const b of boxes) {
    const tall = ((height - axis - pad) * b.height) / whole;
    y -= tall;
    const half = b.width * scale;
    const box = s("rect", { x: middle - half, y, width: 2 * half, height: Math.max(0.4, tall), fill: svgFill(paintOf(b.kind)), stroke: "var(--surface)", "stroke-width": tall > 3 ? 1 : 0, "data-thread": b.label });
    box.addEventListener("pointermove", (e) => showTip(e.clientX, e.clientY, ...tipTable(b.label, [["height", formatNs(b.height)], ["running", formatNs(b.running)], ["threads at once", formatRate(b.width)]])));
    box.addEventListener("pointerleave", hideTip);
    svg.append(box);
    if (tall > 9 && y + tall / 2 < lastLabel - 12) {
      lastLabel = y + tall / 2;
      svg.append(s("text", { x: middle + half + 8, y: lastLabel + 4 }, b.label.length > 26 ? b.label.slice(0, 25) + "…" : b.label));
    }
  }
  return svg;
}

function boxTable(app: App): Table<Box> {
  return new Table<Box>({
    id: "table-bottle", label: "Boxes of the bottle graph", sort: "-height", height: 12, keyOf: (b) => b.label,
    columns: [
      { key: "name", title: "thread", kind: "name", value: (b) => b.label, cell: (b) => {
        const name = app.tasks.namesOf("thread")[b.thread]?.name;
        const label = b.count > 1 ? `${b.label} (${b.count} threads)` : b.label;
        return h("span", null, swatch(paintOf(b.kind)), name ? h("a", { href: app.link("thread", name) }, label) : label);
      } },
      { key: "kind", title: "kind", kind: "text", value: (b) => b.kind, cell: (b) => b.kind },
      { key: "height", title: "height", kind: "number", doc: "Its share of the time", value: (b) => b.height, cell: (b) => formatNs(b.height) },
      { key: "running", title: "running", kind: "number", value: (b) => b.running, cell: (b) => formatNs(b.running) },
      { key: "width", title: "width", kind: "number", doc: "Threads running at the same time", value: (b) => b.width, cell: (b) => formatRate(b.width) },
    ],
  });
}
