// Tables whose rows change every second. A row is an element for as long as it is there, so
// that a click, the focus and selected text survive an update; rows change places only while
// nobody points at them.
import { button, h } from "./dom";
import { Sparkline } from "./livespark";
import type { Points } from "./live";

/** LiveColumn is a column of a table of T. */
export interface LiveColumn<T> {
  key: string;
  title: string;
  doc?: string;
  kind: "name" | "number" | "text" | "course";
  /** What is sorted by; null: not known. Without it the column cannot be sorted by. */
  value?: (row: T) => number | string | null;
  /** What the cell says. */
  text: (row: T) => string;
  /** A second line, of a name. */
  below?: (row: T) => string;
  /** What the pointer shows over it, where that is not the text. */
  tip?: (row: T) => string;
  /** Where a name leads. */
  href?: (row: T) => string | null;
  /** Draws the course of the figure beside the text. */
  points?: (row: T) => Points;
  /** Fills the cell after its text has changed, for anything else. */
  fill?: (cell: HTMLTableCellElement, row: T) => void;
}

/** LiveTableOptions say how a table behaves. */
export interface LiveTableOptions<T> {
  id: string;
  label: string;
  columns: LiveColumn<T>[];
  keyOf: (row: T) => string;
  /** Attributes of a row, as data-session. */
  mark?: (tr: HTMLTableRowElement, row: T) => void;
  /** As in tables.ts: "-rate"; "": as the rows come. */
  sort?: string;
  /** Told when a reader chooses another order. */
  sorted?: (sort: string) => void;
  empty: string;
}

// How much a column needs, in rem: as live.css has it, and enough of a name.
const room: Record<LiveColumn<never>["kind"], number> = { name: 14, number: 5.3, text: 8.7, course: 11 };

interface Shown<T> {
  tr: HTMLTableRowElement;
  cells: Cell<T>[];
}

/** LiveTable shows rows that come again and again. */
export class LiveTable<T> {
  readonly el: HTMLDivElement;
  private readonly table: HTMLTableElement;
  private readonly head = h("thead", { role: "rowgroup" });
  private readonly body = h("tbody", { role: "rowgroup" });
  private readonly none = h("p", { class: "none note" });
  private readonly shown = new Map<string, Shown<T>>();
  private rows: T[] = [];
  private sort: string;

  constructor(private readonly o: LiveTableOptions<T>) {
    this.sort = o.sort ?? "";
    // The style sheet makes cards of the rows where there is little room; the roles keep
    // them a table for those who cannot see it.
    this.table = h("table", { id: o.id, "aria-label": o.label, role: "table", class: "livetable" },
      h("colgroup", null, ...o.columns.map((c) => h("col", { class: c.kind }))), this.head, this.body);
    this.el = h("div", { class: "table" }, h("div", { class: "scroller", tabindex: 0, role: "group", "aria-label": o.label }, this.table), this.none);
    const needed = o.columns.reduce((sum, c) => sum + room[c.kind], 0);
    new ResizeObserver(() => this.table.classList.toggle("folded-rows", this.el.clientWidth < needed * rem())).observe(this.el);
    this.showHead();
    this.setRows([]);
  }

  /** setRows shows rows; those with known keys change in place. */
  setRows(rows: T[], empty = this.o.empty): void {
    this.rows = rows;
    this.none.textContent = rows.length ? "" : empty;
    this.none.hidden = rows.length > 0;
    this.table.hidden = rows.length === 0;
    const keys = new Set<string>();
    for (const row of rows) {
      const key = this.o.keyOf(row);
      keys.add(key);
      let s = this.shown.get(key);
      if (!s) this.shown.set(key, (s = this.make()));
      for (const c of s.cells) c.show(row);
      this.o.mark?.(s.tr, row);
    }
    for (const [key, s] of this.shown) {
      if (keys.has(key)) continue;
      s.tr.remove();
      this.shown.delete(key);
    }
    this.place(false);
  }

  private make(): Shown<T> {
    const cells = this.o.columns.map((c) => new Cell(c));
    return { tr: h("tr", { role: "row" }, ...cells.map((c) => c.el)), cells };
  }

  // place puts the rows in their order. New ones go to their place at once, those that are
  // there move only if nobody is about to click them.
  private place(now: boolean): void {
    const busy = !now && (this.body.matches(":hover") || this.body.contains(document.activeElement));
    const order = this.sorted().map((row) => this.shown.get(this.o.keyOf(row))!.tr);
    if (busy) {
      for (const tr of order) if (!tr.isConnected) this.body.append(tr);
      return;
    }
    order.forEach((tr, i) => {
      const there = this.body.children[i];
      if (there !== tr) this.body.insertBefore(tr, there ?? null);
    });
  }

  private sorted(): T[] {
    const c = this.o.columns.find((c) => c.key === this.sort.replace(/^-/, ""));
    const value = c?.value;
    if (!value) return this.rows;
    const down = this.sort.startsWith("-") ? -1 : 1;
    return [...this.rows].sort((a, b) => {
      const x = value(a);
      const y = value(b);
      if (x === null || y === null) return Number(x === null) - Number(y === null);
      return down * (x < y ? -1 : x > y ? 1 : 0);
    });
  }

  private showHead(): void {
    this.head.replaceChildren(h("tr", { role: "row" }, ...this.o.columns.map((c) => {
      const by = c.value !== undefined && this.sort.replace(/^-/, "") === c.key;
      const down = this.sort.startsWith("-");
      const th = h("th", { class: c.kind + (by ? " sorted" : ""), scope: "col", role: "columnheader", "aria-sort": by ? (down ? "descending" : "ascending") : null });
      if (!c.value) {
        th.append(c.title);
        return th;
      }
      th.append(button(c.title, () => this.sortBy(c, by, down), { title: c.doc, "data-sort": c.key }));
      if (by) th.append(h("span", { class: "arrow", "aria-hidden": "true" }, down ? "▾" : "▴"));
      return th;
    })));
  }

  private sortBy(c: LiveColumn<T>, by: boolean, down: boolean): void {
    const words = c.kind === "name" || c.kind === "text";
    this.sort = by ? (down === words ? "" : (down ? "" : "-") + c.key) : (words ? "" : "-") + c.key;
    this.o.sorted?.(this.sort);
    this.showHead();
    this.place(true);
    this.head.querySelector<HTMLButtonElement>(`button[data-sort="${CSS.escape(c.key)}"]`)?.focus();
  }
}

// Cell changes only what differs from what it shows.
class Cell<T> {
  readonly el: HTMLTableCellElement;
  private readonly words: HTMLElement;
  private readonly below = h("span", { class: "below" });
  private readonly spark: Sparkline | null;
  private text: string | null = null;

  constructor(private readonly c: LiveColumn<T>) {
    const name = c.kind === "name";
    this.el = h(name ? "th" : "td", { class: c.kind, role: name ? "rowheader" : "cell", scope: name ? "row" : null, "data-label": c.title, "data-key": c.key });
    this.words = c.href ? h("a", { class: "words" }) : h("span", { class: "words" });
    this.spark = c.points ? new Sparkline() : null;
    if (this.spark) this.el.append(this.spark.element);
    this.el.append(this.words);
    if (c.below) this.el.append(this.below);
  }

  show(row: T): void {
    let text = this.c.text(row);
    if (this.c.kind === "name" && !text.trim()) text = "(no name)";
    if (text !== this.text) {
      this.text = text;
      setText(this.words, text);
    }
    if (this.c.kind === "name" || this.c.kind === "text") setAttribute(this.el, "title", harmless(this.c.tip?.(row) ?? text) || null);
    if (this.c.below) setText(this.below, this.c.below(row));
    if (this.c.href) setAttribute(this.words, "href", this.c.href(row));
    if (this.spark) this.spark.draw(this.c.points!(row));
    this.c.fill?.(this.el, row);
  }
}

/** setText changes a text only if it differs: selections survive, and nothing is laid out anew. */
export function setText(el: Element, text: string): void {
  const shown = harmless(text);
  if (el.textContent !== shown) el.textContent = shown;
}

/** harmless shows characters that act on their neighbours, as those that turn the direction
    of writing, instead of obeying them: as internal/text does. */
export function harmless(text: string): string { return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, "\uFFFD"); }

/** setAttribute changes an attribute only if it differs; null takes it away. */
export function setAttribute(el: Element, name: string, value: string | null): void {
  if (el.getAttribute(name) === value) return;
  if (value === null) el.removeAttribute(name);
  else el.setAttribute(name, value);
}

// rem is the font size of the page in pixels.
function rem(): number { return parseFloat(getComputedStyle(document.documentElement).fontSize); }
