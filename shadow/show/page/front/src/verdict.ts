// The first screen: a sentence, up to three cards, and what is folded below them.
import type { Bar, Card, Count, Data, Link } from "./data";
import { append, h, s } from "./dom";
import { formatCount, formatNs, formatPercent } from "./format";
import { noState, print, views, type View } from "./state";
import { others, paintOf, svgFill } from "./theme";

/** verdict makes the first screen. */
export function verdict(data: Data): HTMLElement {
  const v = data.verdict;
  const el = h("section", { id: "verdict", "aria-labelledby": "sentence" },
    line(data), h("h1", { class: v.sentence.length > 100 ? "sentence long" : "sentence", id: "sentence" }, ...rich(v.sentence)));
  if (v.note) el.append(h("p", { class: "beside" }, ...rich(v.note)));
  if (v.cards.length) el.append(cards(v.cards));
  el.append(folded(data));
  return el;
}

/** rich has what is between back quotes as code. */
export function rich(text: string): (Node | string)[] {
  return text.split("`").map((part, i, all) => (i % 2 && i < all.length - 1 ? h("code", null, part) : part));
}

// line is the program, the JVM, the machine and whether anything is missing.
function line(data: Data): HTMLElement {
  const se = data.session;
  const started = se.started ? new Date(se.started) : null;
  const parts = [
    se.program || se.name,
    se.labels,
    started && !Number.isNaN(started.getTime()) ? started.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "",
    formatNs(se.duration_ns) + (se.running ? " so far" : ""),
    se.jvm + (se.collector ? `, ${se.collector} collector` : ""),
    `${se.cpus} ${se.cpus === 1 ? "CPU" : "CPUs"}${se.host ? " on " + se.host : ""}`,
  ];
  const el = h("p", { class: "line" }, ...parts.filter(Boolean).map((p) => h("span", null, p)));
  append(el, h("span", { class: se.losses.length ? "incomplete" : "complete", id: "account" }, se.account));
  return el;
}

function cards(list: Card[]): HTMLElement {
  return h("div", { class: list.length === 1 ? "cards one" : "cards" }, ...list.map(card));
}

function card(c: Card): HTMLElement {
  const el = h("article", { class: "card", "data-rule": c.rule }, h("h2", null, ...rich(c.title)));
  if (c.bars.length) el.append(bars(c.bars));
  append(el, c.evidence ? h("p", { class: "evidence" }, ...rich(c.evidence)) : null, c.remedy ? h("p", { class: "remedy" }, ...rich(c.remedy)) : null);
  const gain = h("div", { class: "gain" });
  if (c.gain_share > 0) gain.append(h("strong", null, "up to " + formatPercent(c.gain_share)));
  append(gain, c.gain ? h("p", { class: "text" }, ...rich(c.gain)) : null);
  if (gain.childElementCount) el.append(gain);
  el.append(h("a", { class: "show", href: linkOf(c.show), "aria-label": "Show me: " + c.title }, "Show me →"));
  return el;
}

/** linkOf is the address of a view. */
export function linkOf(l: Link): string {
  const st = noState();
  if (views.includes(l.view as View)) st.view = l.view as View;
  st.name = l.name;
  if (l.to > 0) [st.from, st.to] = [l.from, l.to];
  return print(st);
}

// bars is the small picture of a card.
function bars(list: Bar[]): HTMLElement {
  const most = Math.max(...list.map((b) => b.value), Number.MIN_VALUE);
  const text = list.map((b) => `${b.label}: ${b.text}`).join(", ");
  const el = h("div", { class: "bars", role: "img", "aria-label": text });
  for (const b of list) {
    el.append(h("span", { class: "label", title: b.label }, b.label), bar(b.value / most, svgFill(b.kind ? paintOf(b.kind) : others)), h("span", { class: "text" }, b.text));
  }
  return el;
}

/** bar is a bar over a share of its width. */
export function bar(share: number, fill: string): SVGSVGElement {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return s("svg", { "aria-hidden": "true" },
    s("rect", { width: "100%", height: "100%", rx: 2, fill: "var(--sunken)" }), s("rect", { width: width + "%", height: "100%", rx: 2, fill }));
}

function folded(data: Data): HTMLElement {
  const { session: se, verdict: v } = data;
  const el = h("div", { class: "folded" });
  const fold = (id: string, title: string, content: Node) => el.append(h("details", { id }, h("summary", null, title), content));
  if (v.more.length) fold("more", `More advice (${v.more.length})`, cards(v.more));
  if (se.cautions.length) fold("cautions", `Cautions (${se.cautions.length})`, items(se.cautions));
  if (se.facts.length) fold("facts", `Facts (${se.facts.length})`, items(se.facts));
  if (se.losses.length) fold("losses", "What is missing", items(se.losses));
  if (se.counts.length || se.refusals.length) {
    fold("counts", "Counts", h("div", null, counts(se.counts), se.refusals.length ? h("h3", null, "Not instrumented") : null, counts(se.refusals)));
  }
  return el;
}

function items(list: string[]): HTMLElement { return h("ul", null, ...list.map((f) => h("li", null, ...rich(f)))); }

function counts(list: Count[]): HTMLElement | null {
  if (!list.length) return null;
  return h("dl", { class: "counts" }, ...list.flatMap((c) => [h("dt", null, c.label), h("dd", null, formatCount(c.value)), c.note ? h("dd", { class: "why" }, c.note) : null]));
}
