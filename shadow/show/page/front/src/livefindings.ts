// Live findings: they appear, change and end. Their panel has a fixed height, so that nothing
// else moves, and a screen reader hears of them when it has time.
import { h } from "./dom";
import type { Held, JVM } from "./live";
import { announce } from "./livehead";
import { setText } from "./livetable";

interface Shown {
  el: HTMLLIElement;
  title: HTMLElement;
  text: HTMLElement;
  since: HTMLElement;
}

/** LiveFindings is the panel. */
export class LiveFindings {
  readonly el: HTMLElement;
  private readonly list = h("ul", { class: "findings" });
  private readonly none = h("p", { class: "note" }, "Looking…");
  private readonly count = h("span", { class: "badge", hidden: true });
  private readonly shown = new Map<string, Shown>();
  private first = true;

  constructor() {
    this.el = h("section", { class: "panel live", id: "findings", "aria-labelledby": "findings-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "findings-title" }, "Findings"), this.count),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-labelledby": "findings-title" }, this.none, this.list));
  }

  /** update shows the findings of a JVM: those that hold, then those that have ended. */
  update(v: JVM): void {
    const clock = (ns: number) => new Date(v.row.started_ms + ns / 1e6).toLocaleTimeString();
    const keys = new Set<string>();
    const holding = v.findings ?? [];
    for (const f of [...holding, ...(v.past ?? [])]) {
      const key = [f.rule, f.class, f.executor, f.since_ns].join("\n");
      keys.add(key);
      let s = this.shown.get(key);
      if (!s) {
        this.shown.set(key, (s = this.make(f)));
        if (!this.first && f.end_ns === null) announce("New finding: " + (f.title ?? f.rule));
      }
      if (f.end_ns !== null && !s.el.hasAttribute("data-ended")) {
        if (!this.first) announce("No longer found: " + (f.title ?? f.rule));
        s.el.setAttribute("data-ended", "");
      } else if (f.end_ns === null) s.el.removeAttribute("data-ended");
      const at = this.list.children[keys.size - 1] ?? null;
      if (at !== s.el) this.list.insertBefore(s.el, at);
      setText(s.title, f.title ?? f.rule);
      setText(s.text, f.text);
      setText(s.since, f.end_ns === null ? "since " + clock(f.since_ns) : `from ${clock(f.since_ns)} to ${clock(f.end_ns)}`);
    }
    for (const [key, s] of this.shown) {
      if (keys.has(key)) continue;
      s.el.remove();
      this.shown.delete(key);
    }
    const why = v.missing?.["findings"];
    setText(this.none, why ? `Not known: ${why}.` : holding.length ? "" : "Nothing was found to stand in the way. " + v.bound);
    this.none.hidden = !why && holding.length > 0;
    this.count.hidden = holding.length === 0;
    setText(this.count, String(holding.length));
    this.first = false;
  }

  private make(f: Held): Shown {
    const title = h("h3");
    const text = h("p", { class: "text" });
    const since = h("p", { class: "since quiet" });
    const el = h("li", { class: "finding", "data-rule": f.rule, "data-kind": f.kind }, title, text, since);
    this.list.append(el);
    return { el, title, text, since };
  }
}
