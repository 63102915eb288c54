// The page's help: its keys, and what words mean.
import { button, h } from "./dom";

const keys: [string, string][] = [
  ["/", "Search classes, executors, call sites and threads"],
  ["?", "This help"],
  ["Esc", "Clear the window; close what is open"],
  ["Tab", "Go to the window's edges, legends, tables"],
  ["← →", "On an edge of the window: move it by a slot; with Shift, move the window; Page Up and Down: ten slots"],
  ["+ −", "Zoom the time axis in and out; 0 shows all of it"],
  ["[ ]", "Move the zoomed part of the time axis"],
  ["↑ ↓", "In a table: go to another row"],
  ["Space", "On a row: filter all other tables by it, or stop that"],
  ["Enter", "On a row: open it"],
];

const mouse: [string, string][] = [
  ["Drag", "over the time axis: choose a window, from slot to slot"],
  ["Double click", "on the time axis: clear the window"],
  ["Ctrl + wheel", "on the time axis: zoom; with Shift, move"],
  ["Click", "on a row: filter by it; on its name: open it; on a task in a lane: show it"],
];

const words: [string, string][] = [
  ["Window", "The stretch of time that tables and figures are about. A task belongs to the window in which it ended."],
  ["~", "The figure is an estimate: from a histogram, within 3 % of the exact one, or from a random part of the tasks if they were too fast to time each."],
  ["Work", "What tasks are compared by, without the tasks nested in them: the first measure in the list."],
];

/** helpDialog makes the help, and the button that opens it. */
export function helpDialog(): { dialog: HTMLDialogElement; open: HTMLButtonElement } {
  const list = (rows: [string, string][], key: boolean) =>
    h("dl", null, ...rows.flatMap(([k, text]) => [h("dt", null, key ? h("kbd", null, k) : k), h("dd", null, text)]));
  const dialog = h("dialog", { id: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "How to use this page"), list(keys, true), list(mouse, false), list(words, false));
  dialog.append(button("Close", () => dialog.close(), { class: "button" }));
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  const open = button("?", () => dialog.showModal(), { class: "icon", id: "open-help", "aria-label": "Help", title: "Help" });
  return { dialog, open };
}
