// Loads the report of a session from the shadow, which may have to make it first.
import { button, h } from "./dom";
import { ask } from "./liveapi";
import { harmless, setText } from "./livetable";

/** Progress is progress.json. */
interface Progress {
  state: string; // making, waiting (for another session's), failed, idle
  what: string;
  done: number;
  total: number; // 0: not known
}

const pace = 400; // ms between two looks at the progress
const patience = 250; // ms before there is anything to see: a report that is there comes at once

/** loadReport is the data of a session. Meanwhile main shows how far the shadow is. */
export async function loadReport(main: HTMLElement, source: string, progress: string): Promise<string> {
  const bar = h("progress", { "aria-label": "Making the report" });
  const text = h("p", { class: "note", role: "status" }, "The shadow makes the report…");
  const panel = h("section", { class: "panel", id: "making", hidden: true }, h("h1", null, "Making the report"), bar, text);
  main.append(panel);
  const begun = performance.now();
  const timer = setInterval(() => {
    panel.hidden = performance.now() - begun < patience;
    void look(progress, bar, text);
  }, pace);
  try {
    for (;;) {
      const answer = await fetch(source, { credentials: "same-origin" });
      if (answer.ok) return await answer.text();
      const again = Number(answer.headers.get("Retry-After"));
      if (answer.status !== 503 || !again) throw new Error((await answer.text()).trim() || `the shadow answers with ${answer.status}`);
      await new Promise((r) => setTimeout(r, again * 1000)); // it makes another report
    }
  } catch (e) {
    main.append(h("p", null, h("a", { href: "/" }, "All sessions"), " ", button("Try again", () => location.reload(), { class: "button" })));
    throw e instanceof Error ? new Error(harmless(e.message)) : e;
  } finally {
    clearInterval(timer);
    panel.remove();
  }
}

async function look(address: string, bar: HTMLProgressElement, text: HTMLElement): Promise<void> {
  try {
    const p = (await (await ask(address)).json()) as Progress;
    if (p.state === "waiting") setText(text, "The shadow makes another report first…");
    if (p.state !== "making") return;
    setText(text, p.what + "…");
    if (p.total > 0) {
      bar.max = p.total;
      bar.value = Math.min(p.done, p.total);
    } else bar.removeAttribute("value");
  } catch {
    // The answer to the other request says what is wrong.
  }
}
