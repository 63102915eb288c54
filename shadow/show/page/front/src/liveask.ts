// A dialog that asks before something is changed.
import { button, h } from "./dom";
import { harmless } from "./livetable";

/** Question is what a dialog asks. */
export interface Question {
  title: string;
  content: Node[];
  yes: string;
  danger?: boolean;
  /** What has the focus at first: by default the button that changes nothing. */
  focus?: HTMLElement;
  /** Does it. What it throws is shown, and the dialog stays. */
  act: () => Promise<void>;
}

/** ask shows the dialog and reports whether it was done. */
export function ask(q: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const trouble = h("p", { class: "fault", role: "alert", hidden: true });
    let done = false;
    const yes = button(q.yes, () => void act(), { class: "button " + (q.danger ? "danger" : "primary"), id: "dialog-yes" });
    const no = button("Cancel", () => dialog.close(), { class: "button", id: "dialog-no" });
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", class: "ask" },
      h("h2", { id: "dialog-title" }, harmless(q.title)), ...q.content, trouble, h("div", { class: "choices" }, no, yes));
    const act = async (): Promise<void> => {
      yes.disabled = true;
      try {
        await q.act();
        done = true;
        dialog.close();
      } catch (e) {
        trouble.textContent = e instanceof Error ? e.message : String(e);
        trouble.hidden = false;
        yes.disabled = false;
      }
    };
    dialog.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && e.target instanceof HTMLInputElement) void act();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
    document.body.append(dialog);
    dialog.showModal();
    (q.focus ?? no).focus();
  });
}
