// The live pages of the shadow. What tests rely on:
//
//   html[data-state="ready"]      a snapshot has been shown; also data-connection
//   #connection[data-state]       connecting, live, reconnecting, paused, hidden, gone; #connection .age; #pause
//   #fleet tr[data-session]       a JVM, by the folder of its session; also data-state
//   #stored tr[data-session]      a stored session; .open .rename .download .delete; #stored-search #older #compare
//   #dialog-yes #dialog-no        of the dialogs; #label-name #label-note
//   #jvm[data-folder]             the view of a JVM; #report-now; #band-cpu, -tasks, -running, -queued, -gc
//   #findings .finding[data-rule] a finding; data-ended: it no longer holds
//   #services-link                the way to the services of a fleet, from the first page; html[data-view][data-name] there
//   #service #last #by            what is asked; #services-top, -outliers, -trends, -versions, -sessions   tables; tr[data-service][data-name]
//   #services-findings .finding[data-rule]; #services-cost #services-missing #services-trouble   what it cost, lacks, went wrong
//   #classes #executors #running #queued   its tables
import "./live.css";
import { h } from "./dom";
import { jvmPage } from "./livejvm";
import { fleetPage } from "./livefleet";
import { servicesPage } from "./services";
import { startTheme } from "./theme";

/** livePage shows the live page that the root element names, and reports whether it names one. */
export function livePage(): boolean {
  const { page, folder } = document.documentElement.dataset;
  if (page !== "fleet" && page !== "jvm" && page !== "services") return false;
  startTheme();
  const main = h("main", { id: "main", tabindex: -1 });
  document.body.prepend(main);
  if (page === "jvm") jvmPage(main, folder ?? "");
  else if (page === "services") servicesPage(main);
  else fleetPage(main);
  return true;
}
