// A sparkline: the course of one figure in a cell of a table. SVG takes its colours from
// the style sheet, so it follows light, dark and print.

const svg = "http://www.w3.org/2000/svg";
const width = 96;
const height = 22;
const inset = 2; // room for half of the line's width, and for the dot at its end

/** Sparkline draws values whose last one is now. */
export class Sparkline {
  readonly element = document.createElementNS(svg, "svg");
  private readonly area = document.createElementNS(svg, "path");
  private readonly line = document.createElementNS(svg, "path");
  private readonly dot = document.createElementNS(svg, "circle");

  constructor() {
    const e = this.element;
    e.setAttribute("class", "spark");
    e.setAttribute("viewBox", `0 0 ${width} ${height}`);
    e.setAttribute("preserveAspectRatio", "none");
    // The cell says the figure in words.
    e.setAttribute("aria-hidden", "true");
    this.area.setAttribute("class", "area");
    this.line.setAttribute("class", "line");
    this.dot.setAttribute("r", "1.8");
    e.append(this.area, this.line, this.dot);
  }

  /** Draws values from 0 to the greatest, or to top. null: not known then. */
  draw(values: readonly (number | null)[], top = 0): void {
    const most = values.reduce<number>((m, v) => (v !== null && v > m ? v : m), top) || 1;
    const step = (width - 2 * inset) / Math.max(values.length - 1, 1);
    const base = height - inset;
    let line = "";
    let area = "";
    let begun = -1;
    let lastY = -1;
    values.forEach((v, i) => {
      const x = round(inset + i * step);
      if (v === null) {
        if (begun >= 0) area += `L${round(x - step)} ${base}Z`;
        begun = -1;
        return;
      }
      const y = round(base - (v / most) * (height - 2 * inset));
      line += `${begun < 0 ? "M" : "L"}${x} ${y}`;
      area += begun < 0 ? `M${x} ${base}L${x} ${y}` : `L${x} ${y}`;
      begun = i;
      lastY = y;
    });
    if (begun >= 0) area += `L${round(inset + begun * step)} ${base}Z`;
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", area);
    const known = begun === values.length - 1 && begun >= 0;
    this.dot.setAttribute("visibility", known ? "visible" : "hidden");
    if (known) {
      this.dot.setAttribute("cx", String(width - inset));
      this.dot.setAttribute("cy", String(lastY));
    }
  }
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}
