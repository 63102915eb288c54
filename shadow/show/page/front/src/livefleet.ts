// The fleet: a row a JVM that runs, and the stored sessions below.
import { h, replace } from "./dom";
import { formatNs, formatRate, plural } from "./format";
import type { Fleet, Row } from "./live";
import { shadowState } from "./liveapi";
import { cpusOf, known, lostOf, nameOf, stateOf } from "./livefigures";
import { LiveHead } from "./livehead";
import { StoredSessions } from "./livestored";
import { LiveTable, setAttribute, setText, type LiveColumn } from "./livetable";

const columns: LiveColumn<Row>[] = [
  {
    key: "name", title: "JVM", kind: "name", value: nameOf, text: nameOf, href: (r) => "/jvm/" + encodeURIComponent(r.folder),
    below: (r) => [`pid ${r.pid}`, r.host, ...((r.labels as string[] | null) ?? [])].filter(Boolean).join(" · "),
  },
  { key: "state", title: "State", kind: "text", value: (r) => r.state, text: stateOf },
  {
    key: "rate", title: "Tasks/s", doc: "Tasks finished per second, over the last five seconds; the curve is the last minute.", kind: "course",
    value: (r) => r.finished_rate, text: (r) => known(r.finished_rate, formatRate), points: (r) => r.sparks.finished,
  },
  {
    key: "queue", title: "Queue p99", doc: "99 of 100 tasks waited at most this long, over the last minute.", kind: "course",
    value: (r) => r.queue_p99_ns, text: (r) => known(r.queue_p99_ns, formatNs), points: (r) => r.sparks.queue_p99_ns,
  },
  {
    key: "cpu", title: "CPUs", doc: "The mean number of CPUs in use.", kind: "course",
    value: cpusOf, text: (r) => known(cpusOf(r), formatRate), points: (r) => r.sparks.cpus,
  },
  {
    key: "lost", title: "Lost", doc: "Events lost since the session began; the curve is the last minute.", kind: "course",
    value: (r) => r.lost + r.lost_batches, text: lostOf, points: (r) => r.sparks.lost,
    fill: (cell, r) => cell.classList.toggle("bad", r.lost + r.lost_batches > 0),
  },
  {
    key: "findings", title: "Findings", kind: "text", value: (r) => -r.findings, text: (r) => (r.findings ? plural(r.findings, "finding", "findings") : "none"),
    fill: (cell, r) => cell.classList.toggle("some", r.findings > 0),
  },
];

/** fleetPage shows the fleet in main. */
export function fleetPage(main: HTMLElement): void {
  const services = h("a", { class: "home", id: "services-link", href: "/services", hidden: true }, "Services");
  const head = new LiveHead(h("span", { class: "places" }, h("a", { class: "brand", href: "/", "aria-current": "page" }, "shadow"), services));
  const faults = h("div", { id: "faults", role: "alert" });
  let said = "";
  const count = h("span", { class: "quiet" });
  const table = new LiveTable<Row>({
    id: "fleet", label: "JVMs that are recorded now", columns, keyOf: (r) => r.folder, empty: "Waiting for the shadow…",
    mark: (tr, r) => {
      setAttribute(tr, "data-session", r.folder);
      setAttribute(tr, "data-state", r.state);
    },
  });
  const hint = h("p", { class: "note" });
  const more = h("p", { class: "note", hidden: true });
  const stored = new StoredSessions();
  document.body.prepend(head.el);
  replace(main, h("h1", { class: "out" }, "shadow: JVMs and sessions"), faults,
    h("section", { class: "panel live", "aria-labelledby": "fleet-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "fleet-title" }, "Running"), count), table.el, hint, more),
    stored.el);

  let before = "";
  head.follow<Fleet>("/events?fleet", (fleet) => {
    const jvms = (fleet.jvms as Row[] | null) ?? [];
    table.setRows(jvms, "No JVM is recorded now.");
    hint.hidden = jvms.length > 0;
    const running = jvms.filter((r) => r.state !== "ended").length;
    setText(count, running ? plural(running, "JVM", "JVMs") : "");
    more.hidden = fleet.more === 0;
    setText(more, `${plural(fleet.more, "more JVM", "more JVMs")} not shown; all are below.`);
    // A session that begins or ends changes the list below.
    const now = jvms.map((r) => r.folder + "\n" + (r.state === "ended")).sort().join("\n");
    if (now !== before) stored.refresh();
    before = now;
    document.documentElement.dataset["state"] = "ready";
  });

  const look = async (): Promise<void> => {
    try {
      const s = await shadowState();
      services.hidden = !s.fleet;
      const now = [...(s.fault ? ["Nothing is stored: " + s.fault] : []), ...s.troubles];
      if (now.join("\n") !== said) replace(faults, ...now.map((x) => h("p", { class: "fault" }, x)));
      said = now.join("\n");
      setText(hint, `Start one with java -agentpath:/path/libstackagent.so=bus=${s.bus},… : the shadow prints the whole line when it starts. Or attach: shadow attach PID --bus ${s.bus}`);
    } catch {
      // The connection's state says that the shadow is away.
    }
  };
  void look();
  setInterval(() => {
    if (!document.hidden) void look();
  }, 10_000);
}
