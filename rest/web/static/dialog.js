// Dialogs: one way to ask, to confirm and to fill in a form.
"use strict";
const Dialogs = (() => {
  let serial = 0;

  // open shows content with a button that acts, and resolves to what act returned; undefined: it was dismissed. While act
  // returns false the dialog stays, and an error of act is shown in it. Other is the label and the answer of a second choice.
  const open = ({ title, body = [], action = "OK", danger = false, wide = false, act = async () => true, cancel = "Cancel", other = null }) => new Promise((resolve) => {
    const id = `dialog-${++serial}`;
    const back = document.activeElement;
    let answer;
    const wrong = make("p", { class: "alert", role: "alert", hidden: true });
    const go = action ? make("button", { class: danger ? "danger" : "primary" }, action) : null;
    const form = make("form", { novalidate: true }, make("h2", { id, tabindex: "-1" }, title), ...body, wrong,
      make("menu", {}, make("button", { type: "button", class: "cancel", onclick: () => close() }, cancel),
        other ? make("button", { type: "button", class: "danger", onclick: () => {
          [, answer] = other;
          close();
        } }, other[0]) : null, go));
    const box = make("dialog", { "aria-labelledby": id, class: wide ? "wide" : null }, form);
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      if (go?.disabled) return;
      wrong.hidden = true;
      if (go) go.disabled = true;
      try {
        const out = go ? await act(form) : false;
        if (out === false) return;
        answer = out ?? true;
        close();
      } catch (error) {
        wrong.textContent = error.message;
        wrong.hidden = false;
        wrong.scrollIntoView({ block: "nearest" });
      } finally {
        if (go) go.disabled = false;
        if (box.open && document.activeElement === document.body) go?.focus(); // what is disabled loses the focus
      }
    });
    const ended = () => {
      if (!box.isConnected) return;
      box.remove();
      if (back?.isConnected) back.focus();
      resolve(answer);
    };
    const close = () => {
      box.close();
      ended(); // the event comes with the next picture, which takes long on a busy machine: until then there would be two dialogs
    };
    box.addEventListener("close", ended); // Escape
    document.body.append(box);
    box.showModal();
    (form.querySelector("[autofocus], input:not([type=hidden], [type=checkbox]), select, textarea") || form.querySelector("h2")).focus();
  });

  const confirm = async (title, text, action, danger = true) => await open({ title, body: [make("p", {}, text)], action, danger }) === true;

  // unsaved has the browser ask before it leaves a text that was changed, and returns what asks before the page shows another one.
  const unsaved = (changed) => {
    window.addEventListener("beforeunload", (e) => changed() && e.preventDefault());
    return async () => !changed() || await confirm("Discard the changes?", "The text was changed and is not saved.", "Discard");
  };

  return { open, confirm, unsaved };
})();
