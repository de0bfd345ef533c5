// Loaded in the head of each page, so that a page begins in the colours that the reader's system asks for.
if (document.documentElement.dataset.mode === "auto") {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

// A browser may break a line between a formula and the comma after it, or the bracket before it. Hold them together.
document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll("span.math")) {
    const [before, after] = [formula.previousSibling, formula.nextSibling];
    const opening = before?.nodeType === Node.TEXT_NODE && before.data.match(/[([“‘]+$/)?.[0];
    const closing = after?.nodeType === Node.TEXT_NODE && after.data.match(/^[\])”’.,;:!?…]+/)?.[0];
    if (!opening && !closing) continue;
    const held = document.createElement("span");
    held.className = "held";
    formula.before(held);
    held.append(formula);
    if (opening) held.prepend(before.splitText(before.length - opening.length));
    if (closing) {
      after.splitText(closing.length);
      held.append(after);
    }
  }
});

// An option such as --help does not break after its dashes.
document.addEventListener("DOMContentLoaded", () => {
  for (const code of document.querySelectorAll(".bd-article :not(pre) > code"))
    code.classList.toggle("option", /^--?\w[\w-]*$/.test(code.textContent));
});

// Sentences that a cell prints may break again on a narrow screen; tables may not.
document.addEventListener("DOMContentLoaded", () => {
  for (const output of document.querySelectorAll(".cell_output pre"))
    output.classList.toggle("sentences", !output.closest(".highlight-python") && !/\S {2,}\S/.test(output.textContent));
});
