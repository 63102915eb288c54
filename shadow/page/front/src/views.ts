// The views below the time axis.
import type { App } from "./app";
import { h } from "./dom";
import { Linked } from "./linked";
import { dimensions, type State } from "./state";

/** Shown is a view: its elements, and how it follows the state. */
export interface Shown {
  els: HTMLElement[];
  update(st: State): void;
}

/** makeView makes the view of a state. */
export function makeView(app: App, st: State): Shown {
  switch (st.view) {
    default:
      return overview(app);
  }
}

function overview(app: App): Shown {
  const tables = dimensions.map((d) => new Linked(app, d));
  return { els: [h("div", { class: "tables" }, ...tables.map((t) => t.el))], update: (st) => tables.forEach((t) => t.update(st)) };
}
