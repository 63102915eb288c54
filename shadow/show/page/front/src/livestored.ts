// The stored sessions: search, paging, name and note, download, delete, compare two.
import { button, h } from "./dom";
import { formatBytes, formatCount, formatNs, plural } from "./format";
import { addressOf, labelSession, removeSession, storedSessions, type Stored } from "./liveapi";
import { lostOf } from "./livefigures";
import { announce } from "./livehead";
import { ask } from "./liveask";
import { harmless, LiveTable, setAttribute, setText, type LiveColumn } from "./livetable";

const pageLength = 50;
const mostRows = 1000; // that the shadow sends at once
const typing = 250; // ms without a key before the search begins

/** StoredSessions is the list of the store's sessions. */
export class StoredSessions {
  readonly el: HTMLElement;
  private readonly table: LiveTable<Stored>;
  private readonly count = h("span", { class: "quiet", id: "stored-count", role: "status" });
  private readonly search = h("input", { type: "search", id: "stored-search", class: "table-find", placeholder: "Search name, service, program, host, PID", "aria-label": "Search stored sessions" });
  private readonly older = button("Show older sessions", () => void this.more(), { class: "button", id: "older" });
  private readonly trouble = h("p", { class: "fault", role: "alert", hidden: true });
  private readonly compare = h("a", { class: "button", id: "compare", hidden: true }, "Compare the two");
  private readonly chosen: string[] = []; // at most two, the first one chosen first
  private rows: Stored[] = [];
  private next = "";
  private asked = 0;
  private timer = 0;

  constructor() {
    this.table = new LiveTable<Stored>({
      id: "stored", label: "Stored sessions", columns: this.columns(), keyOf: (s) => s.id, empty: "Loading…",
      mark: (tr, s) => setAttribute(tr, "data-session", s.id),
    });
    this.search.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.load(pageLength), typing);
    });
    this.el = h("section", { class: "panel", "aria-labelledby": "stored-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "stored-title" }, "Stored sessions"), this.count, this.compare, this.search),
      this.trouble, this.table.el, h("div", { class: "foot" }, this.older));
    this.older.hidden = true;
    void this.load(pageLength);
  }

  /** refresh asks for as many sessions as are shown. */
  refresh(): void { void this.load(Math.min(mostRows, Math.max(pageLength, this.rows.length))); }

  private async load(limit: number): Promise<void> {
    const turn = ++this.asked;
    const q = this.search.value.trim();
    await this.quietly(async () => {
      const page = await storedSessions(q, limit);
      if (turn !== this.asked) return; // a later question has been asked
      this.rows = page.rows;
      this.show(page.next, page.total);
    });
  }

  private async more(): Promise<void> {
    const turn = ++this.asked;
    await this.quietly(async () => {
      const page = await storedSessions("", pageLength, this.next);
      if (turn !== this.asked) return;
      this.rows = [...this.rows, ...page.rows];
      this.show(page.next, page.total);
    });
  }

  private show(next: string, total: number): void {
    const q = this.search.value.trim();
    this.next = next;
    this.older.hidden = !next;
    setText(this.count, q ? plural(total, "match", "matches") : plural(total, "session", "sessions"));
    this.table.setRows(this.rows, q ? "No session matches." : "Nothing is stored yet.");
    for (const id of [...this.chosen]) if (!this.rows.some((s) => s.id === id)) this.choose(id, false);
  }

  // quietly shows what goes wrong in a line above the table.
  private async quietly(what: () => Promise<void>): Promise<boolean> {
    try {
      await what();
      this.trouble.hidden = true;
      return true;
    } catch (e) {
      setText(this.trouble, "The list may be old: " + (e instanceof Error ? e.message : String(e)) + ".");
      this.trouble.hidden = false;
      return false;
    }
  }

  private columns(): LiveColumn<Stored>[] {
    return [
      { key: "chosen", title: "Compare", kind: "text", text: () => "", fill: (cell, s) => this.box(cell, s) },
      {
        key: "name", title: "Session", kind: "name", value: (s) => s.name, text: (s) => s.name, href: (s) => s.report ?? null,
        below: (s) => [[s.service, s.version, s.env].filter(Boolean).join(" "), s.note, s.program === s.name ? "" : s.program, s.pid ? `pid ${s.pid}` : "", s.host].filter(Boolean).join(" · "),
      },
      { key: "started", title: "Started", kind: "text", value: (s) => s.started, text: (s) => when(s.started) },
      { key: "duration", title: "Lasted", kind: "number", value: (s) => s.duration_ns, text: (s) => (s.duration_ns > 0 ? formatNs(s.duration_ns) : "–") },
      { key: "executions", title: "Executions", kind: "number", value: (s) => s.executions, text: (s) => formatCount(s.executions) },
      {
        key: "lost", title: "Lost", kind: "number", value: (s) => s.lost + s.lost_batches,
        text: lostOf,
        fill: (cell, s) => cell.classList.toggle("bad", s.lost + s.lost_batches > 0),
      },
      { key: "bytes", title: "Size", kind: "number", value: (s) => s.bytes, text: (s) => formatBytes(s.bytes) },
      { key: "state", title: "State", kind: "text", value: (s) => s.state, text: (s) => (s.damaged ? "damaged: " + s.damaged : s.running ? "running" : s.state) },
      { key: "actions", title: "Actions", kind: "text", text: () => "", fill: (cell, s) => this.actions(cell, s) },
    ];
  }

  private box(cell: HTMLTableCellElement, s: Stored): void {
    let box = cell.querySelector("input");
    if (!box) {
      box = h("input", { type: "checkbox", onchange: () => this.choose(s.id, box!.checked) });
      cell.append(box);
    }
    box.checked = this.chosen.includes(s.id);
    box.disabled = !s.report;
    setAttribute(box, "aria-label", "Compare " + harmless(s.name));
  }

  // choose takes a session for the comparison. A third one takes the place of the second.
  private choose(id: string, yes: boolean): void {
    const at = this.chosen.indexOf(id);
    if (at >= 0) this.chosen.splice(at, 1);
    if (yes) this.chosen.splice(1, 1, id);
    const [a, b] = this.chosen;
    this.compare.hidden = b === undefined;
    if (a !== undefined && b !== undefined) this.compare.href = `${addressOf(a)}/report#${new URLSearchParams({ view: "compare", with: b }).toString()}`;
    this.table.setRows(this.rows);
  }

  private actions(cell: HTMLTableCellElement, s: Stored): void {
    let group = cell.querySelector<HTMLElement>(".actions");
    const now = `${s.name}\n${s.note}\n${s.running}\n${s.report}`;
    if (group?.dataset["of"] === now) return;
    if (!group) cell.append((group = h("div", { class: "actions" })));
    group.dataset["of"] = now;
    group.replaceChildren(
      ...(s.live ? [h("a", { href: s.live, class: "action" }, "Live")] : []),
      ...(s.report ? [h("a", { href: s.report, class: "action open" }, s.running ? "Report up to now" : "Report")] : []),
      button("Rename", () => void this.rename(s), { class: "action rename", "aria-label": "Rename " + harmless(s.name) }),
      ...(s.running ? [] : [
        h("a", { href: addressOf(s.id) + "/download", class: "action download", download: "", "aria-label": "Download " + harmless(s.name) }, "Download"),
        button("Delete", () => void this.remove(s), { class: "action delete", "aria-label": "Delete " + harmless(s.name) }),
      ]));
  }

  private async rename(s: Stored): Promise<void> {
    const name = h("input", { type: "text", id: "label-name", maxlength: 200, value: s.name === s.session ? "" : s.name, placeholder: s.session });
    const text = h("textarea", { id: "label-note", maxlength: 2000, rows: 3 });
    text.value = s.note;
    await ask({
      title: "Rename " + s.name, yes: "Save", focus: name,
      content: [h("label", { for: "label-name" }, "Name"), name, h("label", { for: "label-note" }, "Note"), text],
      act: () => labelSession(s.id, name.value.trim(), text.value.trim()),
    }) && this.refresh();
  }

  private async remove(s: Stored): Promise<void> {
    const done = await ask({
      title: "Delete " + s.name + "?", yes: "Delete", danger: true,
      content: [h("p", null, `Its ${formatBytes(s.bytes)} with ${plural(s.executions, "execution", "executions")} are removed from the disk. This cannot be undone.`)],
      act: () => removeSession(s.id),
    });
    if (!done) return;
    announce("Deleted " + s.name);
    this.refresh();
    this.search.focus(); // the button that had the focus is gone
  }
}

// when is a point in time as the reader's clock has it.
function when(rfc3339: string): string {
  const t = new Date(rfc3339);
  if (!rfc3339 || Number.isNaN(t.getTime()) || t.getFullYear() < 1971) return "–";
  const two = (n: number) => String(n).padStart(2, "0");
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${two(t.getHours())}:${two(t.getMinutes())}`;
}
