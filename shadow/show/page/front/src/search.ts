// The search over all classes, executors, call sites and threads.
import { shortOf, titleOf, type App } from "./app";
import { h } from "./dom";
import { dimensions, type Dimension } from "./state";

const most = 30;

interface Hit { d: Dimension; name: string; short: string; rank: number }

/** searchBox makes the box. */
export function searchBox(app: App): HTMLElement {
  const input = h("input", {
    type: "search", id: "search", placeholder: "Search  /", "aria-label": "Search classes, executors, call sites and threads", role: "combobox",
    "aria-expanded": "false", "aria-controls": "search-results", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false",
  });
  const list = h("ul", { class: "results", id: "search-results", role: "listbox", "aria-label": "Found", hidden: true });
  let hits: Hit[] = [];
  let at = -1;
  const show = () => {
    hits = search(app, input.value);
    at = hits.length ? 0 : -1;
    list.replaceChildren(...hits.map((hit, i) => h("li", { role: "option", id: "found-" + i, "aria-selected": String(i === at), "data-i": i },
      h("span", null, hit.short), h("span", { class: "quiet" }, titleOf[hit.d].one.toLowerCase()))));
    if (!hits.length) list.append(h("li", { role: "option", "aria-selected": "false", "aria-disabled": "true" }, "Nothing has this name."));
    open(input.value !== "");
  };
  const open = (on: boolean) => {
    list.hidden = !on;
    input.setAttribute("aria-expanded", String(on));
    mark();
  };
  const mark = () => {
    list.querySelectorAll("[data-i]").forEach((el, i) => {
      el.setAttribute("aria-selected", String(i === at));
      if (i === at) el.scrollIntoView({ block: "nearest" });
    });
    if (at >= 0 && !list.hidden) input.setAttribute("aria-activedescendant", "found-" + at);
    else input.removeAttribute("aria-activedescendant");
  };
  const go = (i: number) => {
    const hit = hits[i];
    if (!hit) return;
    location.hash = app.link(hit.d, hit.name);
    input.value = "";
    input.blur();
    open(false);
  };
  // The key that leads here is not searched for.
  input.addEventListener("beforeinput", (e) => { if (e.data === "/" && !input.value) e.preventDefault(); });
  input.addEventListener("input", show);
  input.addEventListener("focus", () => { if (input.value) show(); });
  input.addEventListener("blur", () => open(false));
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      at = Math.max(0, Math.min(hits.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
      mark();
    } else if (e.key === "Enter") go(at);
    else if (e.key === "Escape") {
      input.value = "";
      input.blur();
      e.stopPropagation();
    }
  });
  // Before the box loses the focus, which closes the list.
  list.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    const li = (e.target as Element).closest<HTMLElement>("[data-i]");
    if (li) go(Number(li.dataset["i"]));
  });
  return h("div", { class: "find", role: "search" }, input, list);
}

// search finds names with all words of a text; those that begin with it come first.
function search(app: App, text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const hits: Hit[] = [];
  for (const d of dimensions) {
    for (const n of app.tasks.namesOf(d)) {
      const name = n.name.toLowerCase();
      const short = shortOf(n).toLowerCase();
      if (!n.name || !words.every((w) => name.includes(w) || short.includes(w))) continue;
      const rank = (short.startsWith(words[0]!) ? 0 : short.includes(words[0]!) ? 1 : 2) + (n.platform ? 3 : 0);
      hits.push({ d, name: n.name, short: shortOf(n), rank });
    }
  }
  return hits.sort((a, b) => a.rank - b.rank || a.short.length - b.short.length).slice(0, most);
}
