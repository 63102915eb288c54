// Figures of live data in words.
import { formatCount, plural } from "./format";
import type { Row } from "./live";

/** unknown is the cell of a figure that is not known. */
export const unknown = "–";

/** known prints a figure that may not be known. */
export function known(v: number | null, format: (v: number) => string): string { return v === null ? unknown : format(v); }

/** nameOf is what a JVM is called. */
export function nameOf(r: Row): string { return r.program.trim() || r.session; }

/** cpusOf is the mean number of CPUs in use; null: not known. */
export function cpusOf(r: Row): number | null {
  // A list that is not known is null in JSON.
  const cpus = r.cpus as Row["cpus"] | null;
  return cpus && cpus.reduce((sum, c) => sum + c.value, 0);
}

/** stateOf says how a JVM is. */
export function stateOf(r: Row): string {
  if (r.state === "silent") return "silent for " + duration(r.lag_ms);
  return r.state === "ended" && r.ended ? "ended: " + r.ended : r.state;
}

/** lostOf says what was lost. */
export function lostOf(r: { lost: number; lost_batches: number }): string {
  return formatCount(r.lost) + (r.lost_batches ? " + " + plural(r.lost_batches, "batch", "batches") : "");
}

/** duration is a time that has passed, in its two largest units: "2 h 5 min". */
export function duration(ms: number): string {
  let s = Math.max(0, Math.floor(ms / 1000));
  const parts: string[] = [];
  for (const [seconds, unit] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]] as const) {
    const n = Math.floor(s / seconds);
    if (n > 0 && parts.length < 2) parts.push(`${n} ${unit}`);
    else if (parts.length > 0) break;
    s -= n * seconds;
  }
  return parts.join(" ") || "0 s";
}
