// Tables that sort, scroll and can be walked with the keyboard. Only the rows in sight are in
// the document, so that ten thousand of them are no slower than ten.
import { button, h, replace } from "./dom";

/** ColumnOf is a column of a table of T. */
export interface ColumnOf<T> {
  key: string;
  title: string;
  /** Columns side by side with the same group share a heading. */
  group?: string;
  doc?: string;
  /** name: wide, to the left; number: to the right; text: to the left; bar: wide, to the right. */
  kind: "name" | "number" | "text" | "bar";
  /** The width of the column in em, if it is not that of its kind; 0: what is left. */
  width?: number;
  /** What is sorted by. NaN and what is negative for "not known" go last. */
  value: (row: T) => number | string;
  cell: (row: T) => Node | string;
}

/** TableOptions say how a table behaves. */
export interface TableOptions<T> {
  id: string;
  label: string;
  columns: ColumnOf<T>[];
  /** "-count" sorts by count, the greatest first. */
  sort: string;
  onSort?: (sort: string) => void;
  /** Click, Enter or Space on a row. */
  onRow?: (row: T, e: Event) => void;
  /** Rows that are marked as chosen. */
  chosen?: (row: T) => boolean;
  /** What identifies a row, for data-key. */
  keyOf: (row: T) => string;
  /** The most rows in sight; the rest scrolls. */
  height?: number;
  empty?: string;
}

const rowHeight = 30;

/** Table shows rows. */
export class Table<T> {
  readonly el: HTMLDivElement;
  private rows: T[] = [];
  private sorted: T[] = [];
  private readonly body = h("tbody");
  private readonly scroller: HTMLDivElement;
  private readonly table: HTMLTableElement;
  private focused = -1;
  private first = -1;
  private last = -1;
  private columns: ColumnOf<T>[];

  constructor(private readonly o: TableOptions<T>) {
    this.columns = o.columns;
    this.table = h("table", { id: o.id, "aria-label": o.label });
    this.scroller = h("div", { class: "scroller", onscroll: () => this.paint(false) }, this.table);
    this.el = h("div", { class: "table" }, this.scroller);
    this.scroller.style.maxHeight = (o.height ?? 12) * rowHeight + 60 + "px";
    this.body.addEventListener("keydown", (e) => this.key(e));
    this.body.addEventListener("click", (e) => this.click(e));
    this.head();
  }

  /** setColumns changes the columns. */
  setColumns(columns: ColumnOf<T>[]): void {
    this.columns = columns;
    this.head();
    this.sortRows();
  }

  /** setSort changes the order. */
  setSort(sort: string): void {
    if (sort === this.o.sort) return;
    this.o.sort = sort;
    this.head();
    this.sortRows();
  }

  /** setRows changes what is shown. */
  setRows(rows: T[]): void {
    this.rows = rows;
    this.sortRows();
  }

  /** repaint shows rows again whose marks changed. */
  repaint(): void { this.paint(true); }

  private sortRows(): void {
    const down = this.o.sort.startsWith("-");
    const c = this.columns.find((c) => c.key === this.o.sort.replace(/^-/, "")) ?? this.columns[0];
    this.sorted = [...this.rows];
    if (c) this.sorted.sort((a, b) => compare(c.value(a), c.value(b), down));
    this.table.setAttribute("aria-rowcount", String(this.sorted.length + 1));
    this.paint(true);
  }

  private head(): void {
    const top = h("tr", { class: "groups" });
    const row = h("tr");
    for (let i = 0; i < this.columns.length; i++) {
      const c = this.columns[i]!;
      row.append(this.heading(c));
      if (!c.group) {
        top.append(h("td", { class: c.kind }));
        continue;
      }
      let span = 1;
      while (this.columns[i + span]?.group === c.group) span++;
      top.append(h("th", { colspan: span, scope: "colgroup" }, c.group));
      i += span - 1;
      for (let k = 1; k < span; k++) row.append(this.heading(this.columns[i - span + 1 + k]!));
    }
    const grouped = this.columns.some((c) => c.group);
    const columns = h("colgroup", null, ...this.columns.map(column));
    replace(this.table, columns, h("thead", null, grouped && top, row), this.body);
  }

  private heading(c: ColumnOf<T>): HTMLTableCellElement {
    const by = this.o.sort.replace(/^-/, "") === c.key;
    const down = this.o.sort.startsWith("-");
    const b = button(c.title, () => {
      const sort = by ? (down ? c.key : "-" + c.key) : (c.kind === "name" || c.kind === "text" ? "" : "-") + c.key;
      this.setSort(sort);
      this.o.onSort?.(sort);
      this.table.querySelector<HTMLButtonElement>(`thead button[data-sort="${CSS.escape(c.key)}"]`)?.focus();
    }, { title: c.doc, "data-sort": c.key });
    return h("th", { class: c.kind + (by ? " sorted" : ""), scope: "col", "aria-sort": by ? (down ? "descending" : "ascending") : null }, b,
      by && h("span", { class: "arrow", "aria-hidden": "true" }, down ? "▾" : "▴"));
  }

  // paint puts the rows in sight into the document.
  private paint(all: boolean): void {
    const inSight = (this.o.height ?? 12) + 12;
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 6);
    const to = Math.min(this.sorted.length, from + inSight);
    if (!all && from === this.first && to === this.last) return;
    const hadFocus = this.body.contains(document.activeElement) && document.activeElement instanceof HTMLTableRowElement;
    this.first = from;
    this.last = to;
    this.body.replaceChildren();
    if (!this.sorted.length) {
      this.body.append(h("tr", { class: "empty" }, h("td", { colspan: this.columns.length }, this.o.empty ?? "Nothing here.")));
      return;
    }
    this.body.append(spacer(from));
    for (let i = from; i < to; i++) this.body.append(this.row(this.sorted[i]!, i));
    this.body.append(spacer(this.sorted.length - to));
    if (hadFocus) this.rowAt(this.focused)?.focus({ preventScroll: true });
  }

  private row(row: T, i: number): HTMLTableRowElement {
    const chosen = this.o.chosen?.(row) ?? false;
    const tr = h("tr", {
      "data-i": i, "data-key": this.o.keyOf(row), "aria-rowindex": i + 2, class: chosen ? "chosen" : null,
      tabindex: i === Math.max(0, this.focused) ? 0 : -1,
    });
    this.columns.forEach((c) => {
      const cell = c.cell(row);
      if (c.kind === "name") tr.append(h("th", { class: "name", scope: "row" }, cell));
      else tr.append(h("td", { class: c.kind }, cell));
    });
    return tr;
  }

  private rowAt(i: number): HTMLTableRowElement | null {
    return this.body.querySelector(`tr[data-i="${i}"]`);
  }

  private click(e: MouseEvent): void {
    const target = e.target as Element;
    if (target.closest("a, button, input")) return;
    const tr = target.closest<HTMLTableRowElement>("tr[data-i]");
    if (!tr) return;
    this.focused = Number(tr.dataset["i"]);
    this.o.onRow?.(this.sorted[this.focused]!, e);
  }

  private key(e: KeyboardEvent): void {
    if (!(e.target instanceof HTMLTableRowElement)) return;
    const i = Number(e.target.dataset["i"]);
    const page = this.o.height ?? 12;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -i, End: this.sorted.length };
    const step = steps[e.key];
    if (step !== undefined) {
      e.preventDefault();
      this.focus(Math.max(0, Math.min(this.sorted.length - 1, i + step)));
    } else if (e.key === "Enter") {
      e.target.querySelector<HTMLAnchorElement>("a")?.click();
    } else if (e.key === " ") {
      e.preventDefault();
      this.focused = i;
      this.o.onRow?.(this.sorted[i]!, e);
    }
  }

  private focus(i: number): void {
    this.focused = i;
    const top = i * rowHeight;
    const space = this.scroller.clientHeight - 80;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + space) this.scroller.scrollTop = top - space;
    this.paint(true);
    this.rowAt(i)?.focus({ preventScroll: true });
  }
}

function column<T>(c: ColumnOf<T>): HTMLElement {
  const col = h("col", { class: c.kind });
  if (c.width !== undefined) col.style.width = c.width ? c.width + "em" : "auto";
  return col;
}

function spacer(rows: number): HTMLTableRowElement | string {
  if (rows <= 0) return "";
  const tr = h("tr", { class: "spacer", "aria-hidden": "true" }, h("td"));
  tr.style.height = rows * rowHeight + "px";
  return tr;
}

function compare(a: number | string, b: number | string, down: boolean): number {
  if (typeof a === "string" || typeof b === "string") {
    const c = String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
    return down ? -c : c;
  }
  const known = Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return known || (down ? b - a : a - b);
}
