// Parts of a whole: a bar with a legend.
import type { Label } from "./data";
import { h, s, wide } from "./dom";
import { formatPercent } from "./format";
import { paintOf, svgFill, swatch } from "./theme";

/** Part is a part of a bar. */
export interface Part { label: Label; value: number }

/** stackedBar is a bar of parts; what it does not fill of the whole stays empty. */
export function stackedBar(parts: Part[], whole: number, height = 26): SVGSVGElement {
  const svg = s("svg", { class: "whole stacked", width: "100%", height, role: "img",
    "aria-label": parts.filter((p) => p.value > 0).map((p) => `${p.label.label} ${formatPercent(p.value / whole)}`).join(", ") || "nothing" });
  svg.append(s("rect", { width: "100%", height, rx: 3, fill: "var(--sunken)" }));
  let at = 0;
  for (const p of parts) {
    const share = whole > 0 ? p.value / whole : 0;
    if (share <= 0) continue;
    svg.append(s("rect", { x: at * 100 + "%", width: share * 100 + "%", height, fill: svgFill(paintOf(p.label.key)), class: "part", "data-key": p.label.key },
      s("title", null, `${p.label.label}: ${formatPercent(share)}`)));
    at += share;
  }
  return svg;
}

/** partsTable is the legend of a bar, with figures and what each part means. */
export function partsTable(parts: Part[], whole: number, format: (v: number) => string, of: string): HTMLElement {
  const rows = parts.filter((p) => p.value > 0).map((p) => h("tr", { "data-key": p.label.key },
    h("th", { scope: "row" }, swatch(paintOf(p.label.key)), p.label.label), h("td", { class: "number" }, formatPercent(whole > 0 ? p.value / whole : 0)),
    h("td", { class: "number" }, format(p.value)), h("td", { class: "quiet" }, p.label.doc)));
  return wide("Parts", h("table", { class: "legend-table" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "part"), h("th", { class: "number", scope: "col" }, "share"), h("th", { class: "number", scope: "col" }, of), h("th", { scope: "col" }, "what it is"))),
    h("tbody", null, ...rows)));
}
