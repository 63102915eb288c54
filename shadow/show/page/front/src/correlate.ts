// Correlation of the chosen monitors: a scatter plot of each pair, and Pearson's r.
import type { Monitor } from "./data";
import { h, s, wide } from "./dom";
import { valuesOf } from "./monitors";

/** pearson is the coefficient of the pairs that are both known, with their number; NaN if one of the two is constant. */
export function pearson(x: Float64Array, y: Float64Array, from: number, to: number): { r: number; n: number } {
  let n = 0, mx = 0, my = 0;
  const known = (i: number) => Number.isFinite(x[i]!) && Number.isFinite(y[i]!);
  for (let i = from; i < to; i++) if (known(i)) n++, (mx += x[i]!), (my += y[i]!);
  mx /= n;
  my /= n;
  let xx = 0, yy = 0, xy = 0;
  for (let i = from; i < to; i++) {
    if (!known(i)) continue;
    const a = x[i]! - mx, b = y[i]! - my;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return { r: n > 2 && xx > 0 && yy > 0 ? Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy))) : NaN, n };
}

/** showR prints a coefficient. */
export function showR(r: number): string { return Number.isFinite(r) ? r.toFixed(2).replace("-", "−") : "no r"; }

/** matrix is the table of all pairs in a part of the time: below the diagonal a dot for each bucket, above it r. */
export function matrix(list: Monitor[], from: number, to: number): HTMLElement {
  const values = list.map(valuesOf);
  const cell = (i: number, j: number): HTMLElement => {
    if (i === j) return h("th", { scope: "row", class: "self" }, list[i]!.name);
    const { r } = pearson(values[j]!, values[i]!, from, to);
    const label = `${list[i]!.name} and ${list[j]!.name}: r ${showR(r)}`;
    if (i > j) return h("td", { class: "plot", "aria-label": label }, scatter(values[j]!, values[i]!, from, to), h("span", null, showR(r)));
    const strength = Number.isFinite(r) ? Math.round(Math.abs(r) * 60) : 0;
    const el = h("td", { class: "r", title: label }, showR(r));
    el.style.background = `color-mix(in srgb, var(${r < 0 ? "--c5" : "--c1"}) ${strength}%, var(--surface))`;
    return el;
  };
  return wide("Correlation of each pair", h("table", { class: "matrix", id: "matrix" },
    h("tbody", null, ...list.map((_, i) => h("tr", null, ...list.map((_, j) => cell(i, j)))))));
}

function scatter(x: Float64Array, y: Float64Array, from: number, to: number): SVGSVGElement {
  const svg = s("svg", { viewBox: "0 0 100 72", "aria-hidden": "true" });
  const scale = (v: Float64Array, size: number) => {
    let low = Infinity, high = -Infinity;
    for (let i = from; i < to; i++) if (Number.isFinite(v[i]!)) (low = Math.min(low, v[i]!)), (high = Math.max(high, v[i]!));
    return (u: number) => 3 + (high > low ? (u - low) / (high - low) : 0.5) * (size - 6);
  };
  const sx = scale(x, 100), sy = scale(y, 72);
  let path = "";
  for (let i = from; i < to; i++) {
    if (Number.isFinite(x[i]!) && Number.isFinite(y[i]!)) path += `M${sx(x[i]!).toFixed(1)} ${(72 - sy(y[i]!)).toFixed(1)}h0`;
  }
  svg.append(s("path", { d: path, class: "dots" }));
  return svg;
}
