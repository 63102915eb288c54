// Making elements. Names come from the profiled program and are hostile: text goes in as text
// nodes only, never as markup, and there are no style attributes (the page's policy forbids
// them).

type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((e: never) => void);

/** h makes an HTML element: attributes, listeners ("onclick": f) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes?: Record<string, Value> | null, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  fill(el, attributes, children);
  return el;
}

/** s makes an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes?: Record<string, Value> | null, ...children: Child[]
): SVGElementTagNameMap[K] {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(el, attributes, children);
  return el;
}

function fill(el: Element, attributes: Record<string, Value> | null | undefined, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") el.addEventListener(name.slice(2), value as EventListener);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  append(el, ...children);
}

/** append adds children, leaving out those that are null or false. */
export function append(el: Element, ...children: Child[]): void {
  for (const c of children) if (c || c === "") el.append(c);
}

/** replace puts children in the place of all that are there. */
export function replace(el: Element, ...children: Child[]): void {
  el.replaceChildren();
  append(el, ...children);
}

/** button makes a button. */
export function button(text: Child, onclick: (e: MouseEvent) => void, attributes?: Record<string, Value>): HTMLButtonElement {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** note is a paragraph in small print. */
export function note(...children: Child[]): HTMLParagraphElement {
  return h("p", { class: "note" }, ...children);
}

/** wide holds what may be wider than the screen: it scrolls, also with the keyboard. */
export function wide(label: string, content: Node): HTMLElement {
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, content);
}

/** select makes a labelled choice. */
export function select(
  label: string, options: { value: string; text: string }[], value: string, change: (value: string) => void, id?: string,
): HTMLLabelElement {
  const el = h("select", { id, name: id ?? "choice", onchange: () => change(el.value) });
  for (const o of options) el.append(h("option", { value: o.value, selected: o.value === value }, o.text));
  return h("label", { class: "choice" }, h("span", null, label), el);
}
