// The page over a recorded session: the bar on top, the verdict, the time axis, and below it
// the view that the address names.
import { App, isDimension } from "./app";
import { Axis } from "./axis";
import { readData } from "./columns";
import type { Data } from "./data";
import { h, replace } from "./dom";
import { helpDialog } from "./help";
import { FiltersBar } from "./linked";
import { searchBox } from "./search";
import { Store, type State, type View } from "./state";
import { modeButton, onTheme, startTheme } from "./theme";
import { hideTip } from "./tip";
import { verdict } from "./verdict";
import { makeView, type Shown } from "./views";

const tabs: { view: View; text: string }[] = [
  { view: "overview", text: "Overview" }, { view: "lanes", text: "Lanes" }, { view: "waits", text: "Waits" }, { view: "bottle", text: "Bottle graph" },
  { view: "stack", text: "Speedup stack" }, { view: "contexts", text: "Contexts" }, { view: "gc", text: "GC" }, { view: "vertical", text: "Vertical" }, { view: "compare", text: "Compare" },
];

/** report shows a session in main. json is its data, other that of a session to compare with. */
export function report(main: HTMLElement, json: string, other: string | null): void {
  startTheme();
  const data = readData(json);
  document.title = (data.session.program || data.session.name) + " - stackagent";
  // The sentence is painted before anything else is decoded.
  const first = verdict(data);
  main.append(first);
  afterPaint(() => new Page(main, data, other ? readData(other) : undefined, first));
}

// afterPaint waits for a frame. A page in the background has none, so there it only waits.
function afterPaint(f: () => void): void {
  if (document.hidden) setTimeout(f);
  else requestAnimationFrame(() => setTimeout(f));
}

class Page {
  private readonly store = new Store();
  private readonly app: App;
  private readonly axis: Axis;
  private readonly filters: FiltersBar;
  private readonly nav = h("nav", { "aria-label": "Views" });
  private readonly view = h("div", { id: "view" });
  private shown: Shown | undefined;
  private shownFor = "";

  constructor(main: HTMLElement, data: Data, other: Data | undefined, private readonly verdict: HTMLElement) {
    this.app = new App(data, this.store);
    this.app.compare(other);
    if (data.compared && !location.hash) this.store.set({ view: "compare" }, true); // who compares two sessions wants to see that first
    this.axis = new Axis(this.app);
    this.filters = new FiltersBar(this.app);
    const help = helpDialog();
    const top = h("header", { class: "top" },
      data.session.folder && h("a", { href: "/", class: "home" }, "All sessions"),
      h("a", { class: "brand", href: "#", title: data.session.program }, data.session.program.replace(/^([a-z][\w]*\.)+/, "") || data.session.name), this.nav,
      h("div", { class: "tools" }, searchBox(this.app), modeButton(), help.open));
    main.before(h("a", { class: "skip", href: "#view", onclick: (e: Event) => { e.preventDefault(); this.view.querySelector<HTMLElement>("a, button, [tabindex]")?.focus(); } }, "Skip to the figures"), top);
    main.append(this.axis.el, this.filters.el, this.view, help.dialog);
    this.store.listen((now, before) => this.update(now, before));
    onTheme(() => { this.axis.redraw(); this.show(true); });
    addEventListener("keydown", (e) => this.key(e, help));
    this.update(this.store.state, this.store.state);
    document.documentElement.dataset["state"] = "ready";
  }

  private update(now: State, before: State): void {
    const root = document.documentElement;
    root.dataset["view"] = now.view;
    root.dataset["name"] = now.name;
    root.dataset["from"] = now.to > 0 ? String(now.from) : "";
    root.dataset["to"] = now.to > 0 ? String(now.to) : "";
    this.verdict.classList.toggle("short", now.view !== "overview");
    replace(this.nav, ...tabs.map((t) => h("a", {
      href: this.store.link({ view: t.view, name: "", versus: "", task: -1, kind: "" }), "aria-current": t.view === now.view ? "page" : null, "data-view": t.view,
    }, t.text)));
    this.axis.update(now);
    this.filters.update(now);
    this.show(false);
    if (now.view !== before.view || now.name !== before.name) {
      hideTip();
      if (before.view === "overview" && now.view !== "overview") scrollTo({ top: 0 });
    }
  }

  // show makes the view of the state, or lets the one that is shown follow it.
  private show(again: boolean): void {
    const st = this.store.state;
    const key = st.view + "\n" + st.name;
    if (key !== this.shownFor || !this.shown || again) {
      this.shown = makeView(this.app, st);
      this.shownFor = key;
      replace(this.view, ...this.shown.els);
    } else this.shown.update(st);
    this.view.className = isDimension(st.view) ? "name-view" : st.view + "-view";
  }

  private key(e: KeyboardEvent, help: { dialog: HTMLDialogElement }): void {
    if (e.ctrlKey || e.metaKey || e.altKey || help.dialog.open) return;
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
    if (e.key === "Escape") {
      if (typing) (e.target as HTMLElement).blur();
      else this.store.set({ from: 0, to: 0 });
      return;
    }
    if (typing) return;
    const [from, to] = this.axis.range();
    const actions: Record<string, () => void> = {
      "/": () => document.getElementById("search")?.focus(),
      "?": () => help.dialog.showModal(),
      "+": () => this.axis.zoom((from + to) / 2, 0.6),
      "-": () => this.axis.zoom((from + to) / 2, 1 / 0.6),
      "0": () => this.store.set({ zoomFrom: 0, zoomTo: 0 }),
      "[": () => this.axis.pan(-0.3),
      "]": () => this.axis.pan(0.3),
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  }
}
