// The tip beside the pointer.
import { h, replace } from "./dom";

let el: HTMLDivElement | undefined;

/** showTip puts content beside a point of the window. */
export function showTip(x: number, y: number, ...content: (Node | string)[]): void {
  if (!el) {
    el = h("div", { class: "tip", role: "status", "aria-live": "off" });
    document.body.append(el);
  }
  replace(el, ...content);
  el.hidden = false;
  const { width, height } = el.getBoundingClientRect();
  const left = x + 18 + width > innerWidth ? Math.max(4, x - width - 18) : x + 18;
  el.style.left = left + "px";
  el.style.top = Math.max(4, Math.min(y + 14, innerHeight - height - 4)) + "px";
}

/** hideTip takes it away. */
export function hideTip(): void {
  if (el) el.hidden = true;
}

/** TipRow is a line of a tip: a heading, if it has no value. */
export type TipRow = [label: string, value?: string];

/** tipTable is a table for a tip. */
export function tipTable(title: string, rows: TipRow[]): Node[] {
  const body = h("table");
  for (const [label, value] of rows) {
    const heading = value === undefined;
    body.append(h("tr", { class: heading ? "group" : null }, h("th", { colspan: heading ? 2 : null }, label), !heading && h("td", null, value)));
  }
  return [h("b", null, title), body];
}
