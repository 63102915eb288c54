// The speedup stack of the window: what became of the time of N threads.
import { missing, type App } from "./app";
import { Band, timeTicks } from "./band";
import { h, note, replace } from "./dom";
import { formatNs, formatPercent, formatRate } from "./format";
import { partsTable, stackedBar } from "./parts";
import type { State } from "./state";
import type { Shown } from "./views";

/** stackView makes the view. */
export function stackView(app: App): Shown {
  const st = app.data.stack;
  if (!st) return { els: [h("section", { class: "panel", id: "stack" }, h("h2", null, "Speedup stack"), missing(app.data, "stack", "The speedup stack is"))], update: () => undefined };
  const n = st.components.length;
  const figure = h("div");
  const sentence = h("p", { class: "lead" });
  const slots = app.data.slots;
  const update = (state: State) => {
    const [from, to] = app.tasks.slots(state.from, state.to);
    const sums = new Float64Array(n);
    for (let slot = from; slot < to; slot++) for (let k = 0; k < n; k++) sums[k]! += st.values[slot * n + k]!;
    const parts = st.components.map((label, k) => ({ label, value: Math.max(0, sums[k]!) }));
    const whole = parts.reduce((a, p) => a + p.value, 0);
    const base = parts.find((p) => p.label.key === "base")?.value ?? 0;
    const worst = parts.filter((p) => p.label.key !== "base").sort((a, b) => b.value - a.value)[0];
    sentence.textContent = `Of ${st.n} threads, ${formatRate(whole ? (base / whole) * st.n : 0)} were at work on average.` +
      (worst && worst.value > 0 ? ` The most was lost to: ${worst.label.label} (${formatPercent(worst.value / whole)}).` : "");
    replace(figure, stackedBar(parts, whole, 44), partsTable(parts, whole, (v) => (whole ? `${formatRate((v / whole) * st.n)} threads` : formatNs(v)), "of " + st.n));
  };
  const band = overTime(app, n);
  update(app.state);
  return {
    els: [
      h("section", { class: "panel", id: "stack" }, h("h2", null, "Speedup stack"), sentence, figure, ...st.notes.map((t) => note(t))),
      h("section", { class: "panel" }, h("h2", null, "Over time"), note("The same account in each stretch of time, as a number of threads."), band, note(`${slots} stretches of ${formatNs(app.data.slot_ns)}.`)),
    ],
    update,
  };
}

function overTime(app: App, n: number): HTMLElement {
  const st = app.data.stack!;
  const { slots, slot_ns } = app.data;
  const band = new Band({ id: "stack", title: "Threads", height: 190, format: formatRate, ticks: (a, b) => timeTicks(a, b, 900) });
  band.setRange(0, slots * slot_ns);
  band.setData(Float64Array.from({ length: slots + 1 }, (_, i) => i * slot_ns), st.components.map((c, k) => ({
    key: c.key, label: c.label, values: Float64Array.from({ length: slots }, (_, i) => st.values[i * n + k]! / slot_ns),
  })));
  new ResizeObserver(() => requestAnimationFrame(() => band.setWidth(band.el.clientWidth))).observe(band.el);
  return band.el;
}
