// Live findings: they appear, change and go. Their panel has a fixed height, so that nothing
// else moves, and a screen reader hears of them when it has time.
import { h } from "./dom";
import type { Held } from "./live";
import { duration } from "./livefigures";
import { announce } from "./livehead";
import { setAttribute, setText } from "./livetable";

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

  /** update shows the findings at a time of the session. */
  update(findings: Held[], nowNs: number): void {
    const keys = new Set<string>();
    for (const f of findings) {
      const key = [f.rule, f.class, f.executor].join("\n");
      keys.add(key);
      let s = this.shown.get(key);
      if (!s) {
        this.shown.set(key, (s = this.make(f)));
        if (!this.first) announce("New finding: " + (f.title ?? f.rule));
      }
      setAttribute(s.el, "data-going", f.going ? "" : null);
      setText(s.title, f.title ?? f.rule);
      setText(s.text, f.text);
      setText(s.since, f.going ? "over, unless it comes back" : "for " + duration((nowNs - f.since_ns) / 1e6));
    }
    for (const [key, s] of this.shown) {
      if (keys.has(key)) continue;
      announce("No longer found: " + (s.title.textContent ?? ""));
      s.el.remove();
      this.shown.delete(key);
    }
    setText(this.none, findings.length ? "" : "Nothing was found in the last minute.");
    this.none.hidden = findings.length > 0;
    this.count.hidden = findings.length === 0;
    setText(this.count, String(findings.length));
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
