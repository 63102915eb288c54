// The page's entry. What tests and links rely on:
//
//   html[data-state="ready"]     the page can be used; also data-view, data-name, data-from, data-to
//   #verdict .sentence .card .show   the first screen; .card[data-rule]; #facts #cautions #losses #more #counts #account
//   #axis #brush .handle         the time axis, what is dragged over, its two sliders; #zoom-in #zoom-out #clear-window
//   #band-cpu, -started, -running, -queued, -pauses   with .key[data-key] as legends; #lanes
//   #filters .chip[data-chip]    the window and the filters; #measure #platform
//   #table-class, -executor, -site, -thread   tables; tr[data-key], th button[data-sort], section[data-table] input
//   #drill #distribution #slowest   a class, executor, call site or thread
//   #task                        the task that is shown in its lane
//   #waits #virtual #bottle #stack #contexts #gc #compare   the other views
//   [data-missing]               why something is not available
//   #faults                      what does not work in the shadow
//   #making                      while the shadow makes the report; #failed: it cannot be shown
//   #search #search-results #theme #help #open-help
import "./page.css";
import { h } from "./dom";
import { livePage } from "./livepage";
import { loadReport } from "./livereport";
import { report } from "./report";

start().catch((e: unknown) => {
  document.querySelector("main")?.prepend(h("p", { class: "missing", id: "failed" }, "The page cannot be shown: " + (e instanceof Error ? e.message : String(e))));
  document.documentElement.dataset["state"] = "failed";
});

async function start(): Promise<void> {
  if (livePage()) return;
  // The shell of "shadow serve" has no main, and says in its root element where the data is.
  const main = document.querySelector("main") ?? document.body.insertBefore(h("main"), document.body.firstChild);
  const { source, progress } = document.documentElement.dataset;
  const own = document.getElementById("data")?.textContent ?? (source ? await loadReport(main, source, progress ?? "") : null);
  if (own) report(main, own, document.getElementById("data-b")?.textContent ?? null);
}
