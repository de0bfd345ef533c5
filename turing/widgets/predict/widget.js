// Predict first: the reader commits to one option, and then the page says whether it holds and why.

import { button, h, listen, put, uniqueId, widget } from "../page/dom.js";

/** Text with `code` between backticks; an odd backtick at the end stays as it is. */
const inline = (text) =>
  text.split(/(`[^`]+`)/).map((part, i) => (i % 2 ? h("code", {}, part.slice(1, -1)) : part));

export default {
  render({ model, el }) {
    const options = model.get("options"), answer = model.get("answer");
    const name = uniqueId();
    const radios = options.map((_, value) => h("input", { type: "radio", name, value }));
    const labels = options.map((option, i) =>
      h("label", {}, radios[i], h("span", {}, ...inline(option)), h("span", { class: "verdict" })));
    const fieldset = h("fieldset", {}, h("legend", {}, ...inline(model.get("question"))), ...labels);
    const commit = button("Commit", () => {
      put(model, { choice: radios.findIndex((radio) => radio.checked) });
      result.focus();
    }, { disabled: "" });
    const result = h("p", { class: "result", role: "status", tabindex: -1 });
    const root = widget("predict", "Predict first", {}, fieldset, commit, result);
    el.replaceChildren(root);

    fieldset.addEventListener("change", () => (commit.disabled = false));

    function show() {
      const choice = model.get("choice");
      if (!(choice in options)) return;
      radios.forEach((radio, i) => {
        radio.disabled = true;
        radio.checked = i === choice;
      });
      labels[answer].classList.add("right");
      labels[choice].lastChild.textContent = "your answer";
      labels[answer].lastChild.textContent = choice === answer ? "your answer, and right" : "the answer";
      commit.hidden = true;
      root.classList.add("done");
      result.replaceChildren(h("b", {}, choice === answer ? "Yes. " : "No. "), ...inline(model.get("because")));
    }
    show();
    return listen(model, { choice: show });
  },
};
