// Figures with their units, as internal/units prints them, so that a figure reads the same
// in the terminal and on the page.

interface Scale { factor: number; unit: string }

const timeScales: Scale[] = [{ factor: 1, unit: "ns" }, { factor: 1e3, unit: "µs" }, { factor: 1e6, unit: "ms" }, { factor: 1e9, unit: "s" }];
const countScales: Scale[] = [
  { factor: 1, unit: "" }, { factor: 1e3, unit: "k" }, { factor: 1e6, unit: "M" }, { factor: 1e9, unit: "G" }, { factor: 1e12, unit: "T" },
];
const byteScales: Scale[] = [
  { factor: 1, unit: "B" }, { factor: 2 ** 10, unit: "KiB" }, { factor: 2 ** 20, unit: "MiB" }, { factor: 2 ** 30, unit: "GiB" },
  { factor: 2 ** 40, unit: "TiB" },
];

/** formatNs prints a span of time: "812 ns", "23.4 ms", "17,440 s". */
export function formatNs(ns: number): string {
  return Number.isFinite(ns) ? scaled(ns, timeScales, 1000) : "n/a";
}

/** formatCount prints a count, exactly up to 99,999: "8,192", "1.25 M". */
export function formatCount(n: number): string {
  if (!Number.isFinite(n)) return "n/a";
  return n > -100_000 && n < 100_000 ? formatExact(n) : scaled(n, countScales, 1000);
}

/** formatExact prints every digit of a count: "12,345,678". */
export function formatExact(n: number): string {
  const s = String(Math.abs(roundToEven(n)));
  const grouped = s.replace(/\B(?=(\d{3})+$)/g, ",");
  return n < 0 && s !== "0" ? "-" + grouped : grouped;
}

/** formatBytes prints a size: "512 B", "1.50 MiB". */
export function formatBytes(n: number): string {
  return Number.isFinite(n) ? scaled(n, byteScales, 1024) : "n/a";
}

/** formatRate prints a number that need not be whole: "0.85", "12.4", "8,192". */
export function formatRate(n: number): string {
  if (!Number.isFinite(n)) return "n/a";
  if (Math.abs(n) >= 100_000) return scaled(n, countScales, 1000);
  return n === 0 ? "0" : threeDigits(n, false);
}

/** formatPercent prints a share (0 to 1) as a percentage. */
export function formatPercent(share: number): string {
  const p = share * 100;
  if (!Number.isFinite(p)) return "n/a";
  if (p === 0) return "0 %";
  if (p > 0 && p < 0.1) return "<0.1 %";
  if (p > 99.9 && p < 100) return ">99.9 %";
  return fixed(p, Math.abs(p) < 9.95 || (p >= 99.5 && p < 100) ? 1 : 0) + " %";
}

/** formatRatio prints how many times something is: "1.25×". */
export function formatRatio(r: number): string {
  return Number.isFinite(r) ? threeDigits(r, false) + "×" : "n/a";
}

/** formatUnit prints a value of a measure. */
export function formatUnit(v: number, unit: string): string {
  return unit === "ns" ? formatNs(v) : unit === "bytes" ? formatBytes(v) : formatCount(v);
}

/** formatAt prints a point in time, with as many digits as a step of that length needs. */
export function formatAt(ns: number, step: number): string {
  if (ns === 0) return "0";
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / 1e9) - 1e-9)));
  if (digits > 3 && Math.abs(ns) < 1e9) {
    return digits > 6 ? fixed(ns / 1e3, digits - 6) + " µs" : fixed(ns / 1e6, digits - 3 > 0 ? digits - 3 : 0) + " ms";
  }
  return fixed(ns / 1e9, digits) + " s";
}

/** plural prints a count of things. */
export function plural(n: number, one: string, many: string): string {
  return formatCount(n) + " " + (n === 1 ? one : many);
}

function scaled(v: number, scales: Scale[], base: number): string {
  const abs = Math.abs(v);
  let i = 0;
  while (i + 1 < scales.length && abs >= scales[i + 1]!.factor) i++;
  let text = threeDigits(v / scales[i]!.factor, i === 0);
  // 999.6 rounds up to the next unit: 1.00 ms, not 1000 µs.
  if (i > 0 && i + 1 < scales.length && abs / scales[i]!.factor >= base - 0.5) {
    i++;
    text = threeDigits(v / scales[i]!.factor, false);
  }
  return scales[i]!.unit ? text + " " + scales[i]!.unit : text;
}

function threeDigits(v: number, whole: boolean): string {
  const abs = Math.abs(v);
  if (whole || abs >= 99.95) return formatExact(v);
  return fixed(v, abs >= 9.995 ? 1 : 2);
}

// fixed is toFixed, but half rounds to even, as in Go.
function fixed(v: number, digits: number): string {
  const tie = Number.isInteger(v * 2 ** (digits + 1)) && Math.abs((v * 10 ** digits) % 1) === 0.5;
  return tie ? (roundToEven(v * 10 ** digits) / 10 ** digits).toFixed(digits) : v.toFixed(digits);
}

function roundToEven(v: number): number {
  const r = Math.round(v);
  return Math.abs(v % 1) === 0.5 && r % 2 !== 0 ? r - 1 : r;
}
