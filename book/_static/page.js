// Loaded in the head of each page, so that a page begins in the colours that the reader's system asks for.
if (document.documentElement.dataset.mode === "auto") {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
