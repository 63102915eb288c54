// Colours and patterns. The colours are custom properties of page.css, for light, dark and
// print; what must be told apart without colour has a pattern as well.
import { h, s } from "./dom";

type Shape = "solid" | "diagonal" | "back" | "cross" | "lines" | "bars" | "dots";

/** Paint is a colour (the number of a --cN) and a pattern; a light one is the pattern in that colour on a tint of it. */
export interface Paint { color: number; shape: Shape; light?: boolean }

const paint = (color: number, shape: Shape = "solid"): Paint => ({ color, shape });
const light = (color: number, shape: Shape): Paint => ({ color, shape, light: true });

// paints are those of kinds of threads, states, parts of waits and components of a stack:
// what is the same thing has the same paint wherever it is. Work is solid, waiting is light.
const paints: Record<string, Paint> = {
  application: paint(1), main: paint(3), gc: paint(4, "bars"), compiler: paint(5, "diagonal"), vm: paint(6, "back"),
  jit: paint(5, "diagonal"), agent: paint(2, "dots"), other: light(7, "lines"), programs: paint(8, "diagonal"),
  running: paint(1), cpu: paint(1), base: paint(1), runnable: light(1, "diagonal"), lock: light(2, "back"), monitor: light(2, "back"),
  synchronizer: light(3, "cross"), io: light(5, "lines"), sleep: light(7, "dots"), carrier: light(3, "bars"), queue: light(5, "diagonal"),
  idle: paint(0), free: paint(0), not_known: light(7, "back"), safepoint: light(4, "bars"),
  sequential: paint(7, "back"), synchronization: paint(2, "cross"), imbalance: paint(3, "diagonal"), oversubscription: paint(6, "diagonal"),
  rest: paint(8, "dots"),
};

// ranked are the paints of what has a rank only: classes and executors.
const ranked = [paint(1), paint(2), paint(3), paint(4), paint(5), paint(6)];

/** others is the paint of all that has none of its own. */
export const others = paint(8);

/** paintOf is the paint of a kind, state, part or component. */
export function paintOf(key: string): Paint { return paints[key] ?? others; }

/** paintOfRank is the paint of the class or executor with that rank: after the first six, they have patterns. */
export function paintOfRank(rank: number): Paint {
  if (rank < 0) return others;
  const p = ranked[rank % ranked.length]!;
  const shapes: Shape[] = ["solid", "diagonal", "dots", "cross"];
  return { color: p.color, shape: shapes[Math.floor(rank / ranked.length) % shapes.length]! };
}

const tile = 6;
const tint = 0.16;
const line = 1.2;
const lightLine = 0.8;
const paths: Record<Exclude<Shape, "solid">, string> = {
  diagonal: "M-1 1L1-1M0 6L6 0M5 7L7 5",
  back: "M-1 5L1 7M0 0L6 6M5-1L7 1",
  cross: "M0 6L6 0M0 0L6 6",
  lines: "M0 1.5H6M0 4.5H6",
  bars: "M1.5 0V6M4.5 0V6",
  dots: "M1 1.5H2.4M4 4.5H5.4",
};

let root: CSSStyleDeclaration | undefined;
const fills = new Map<string, string | CanvasPattern>();

/** token is the value of a custom property of page.css. */
export function token(name: string): string {
  root ??= getComputedStyle(document.documentElement);
  return root.getPropertyValue("--" + name).trim();
}

/** colorOf is the plain colour of a paint. */
export function colorOf(p: Paint): string { return token("c" + p.color); }

/** canvasFill is a paint as the fill of a canvas. */
export function canvasFill(p: Paint): string | CanvasPattern {
  const key = p.color + p.shape + (p.light ? "light" : "");
  let f = fills.get(key);
  if (f === undefined) {
    f = p.shape === "solid" ? colorOf(p) : pattern(p, p.shape);
    fills.set(key, f);
  }
  return f;
}

function pattern(p: Paint, shape: Exclude<Shape, "solid">): string | CanvasPattern {
  const ratio = Math.max(1, Math.round(devicePixelRatio));
  const c = h("canvas", { width: tile * ratio, height: tile * ratio });
  const ctx = c.getContext("2d");
  if (!ctx) return colorOf(p);
  ctx.scale(ratio, ratio);
  if (p.light) {
    ctx.fillStyle = token("surface");
    ctx.fillRect(0, 0, tile, tile);
    ctx.globalAlpha = tint;
  }
  ctx.fillStyle = colorOf(p);
  ctx.fillRect(0, 0, tile, tile);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = p.light ? colorOf(p) : token("hatch");
  ctx.lineWidth = p.light ? lightLine : line;
  ctx.stroke(new Path2D(paths[shape]));
  return ctx.createPattern(c, "repeat") ?? colorOf(p);
}

let defs: SVGDefsElement | undefined;

/** svgFill is a paint as the fill of an SVG element. Its pattern is put into the page once. */
export function svgFill(p: Paint): string {
  if (p.shape === "solid") return `var(--c${p.color})`;
  const id = `fill-${p.color}-${p.shape}${p.light ? "-light" : ""}`;
  if (!defs?.isConnected) {
    defs = s("defs");
    document.body.append(s("svg", { class: "defs", width: 0, height: 0, "aria-hidden": "true", focusable: "false" }, defs));
  }
  if (!document.getElementById(id)) {
    defs.append(s("pattern", { id, width: tile, height: tile, patternUnits: "userSpaceOnUse" },
      p.light ? s("rect", { width: tile, height: tile, fill: "var(--surface)" }) : null,
      s("rect", { width: tile, height: tile, fill: `var(--c${p.color})`, "fill-opacity": p.light ? tint : 1 }),
      s("path", { d: paths[p.shape], stroke: p.light ? `var(--c${p.color})` : "var(--hatch)", "stroke-width": p.light ? lightLine : line, fill: "none" })));
  }
  return `url(#${id})`;
}

/** swatch is a small square in a paint, for legends. */
export function swatch(p: Paint): SVGSVGElement {
  return s("svg", { class: "swatch", width: 12, height: 12, "aria-hidden": "true" },
    s("rect", { width: 12, height: 12, rx: 2, fill: svgFill(p), class: p.color === 0 ? "outlined" : null }));
}

/** Mode is what the reader chose: the system's way, light or dark. */
export type Mode = "auto" | "light" | "dark";

const modes: Mode[] = ["auto", "light", "dark"];
const listeners: (() => void)[] = [];

/** onTheme calls f after colours changed. */
export function onTheme(f: () => void): void { listeners.push(f); }

function changed(): void {
  root = undefined;
  fills.clear();
  for (const f of listeners) f();
}

/** mode is the present choice. */
export function mode(): Mode {
  const m = document.documentElement.dataset["theme"] as Mode | undefined;
  return m && modes.includes(m) ? m : "auto";
}

/** setMode chooses, and remembers it where the browser lets a page do so. */
export function setMode(m: Mode): void {
  if (m === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = m;
  try {
    localStorage.setItem("stackagent-theme", m);
  } catch {
    // A file opened from disk may have no storage: the choice lasts as long as the page.
  }
  changed();
}

/** startTheme applies the remembered choice and follows the system and the printer. */
export function startTheme(): void {
  let m: string | null = null;
  try {
    m = localStorage.getItem("stackagent-theme");
  } catch {
    // As above.
  }
  if (m === "light" || m === "dark") document.documentElement.dataset["theme"] = m;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  // Canvases keep their colours on paper, so they are drawn again for it.
  matchMedia("print").addEventListener("change", changed);
}

/** modeButton is the button that changes light and dark. */
export function modeButton(): HTMLButtonElement {
  const names: Record<Mode, string> = { auto: "as the system", light: "light", dark: "dark" };
  const icons: Record<Mode, string> = { auto: "◐", light: "☀", dark: "☾" };
  const b = h("button", { type: "button", class: "icon", id: "theme" });
  const show = () => {
    b.textContent = icons[mode()];
    b.setAttribute("aria-label", "Colours: " + names[mode()]);
    b.title = "Colours: " + names[mode()];
  };
  b.addEventListener("click", () => {
    setMode(modes[(modes.indexOf(mode()) + 1) % modes.length]!);
    show();
  });
  show();
  return b;
}
