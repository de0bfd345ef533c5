// Nodes of a page, and what every widget does with them.

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const on = (node, event, action) => (node.addEventListener(event, action), node);
export const button = (text, action, attributes = {}) =>
  on(h("button", { type: "button", ...attributes }, text), "click", action);
export const code = (text) => h("code", {}, text);

/** A frame that scrolls on its own, so keys must reach it. */
export const scroller = (name, label, ...children) =>
  h("div", { class: name, tabindex: 0, role: "group", "aria-label": label }, ...children);

/** Set the text of a node that is read aloud; the same words again would be read again. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
/** A paragraph that is read aloud when its text changes. */
export const live = (name) => h("p", { class: name, "aria-live": "polite" });

export const PLAIN_TEXT = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", autocorrect: "off" };
export const textField = (attributes = {}) => h("input", { type: "text", ...PLAIN_TEXT, ...attributes });

export const uniqueId = () => `turing-${Math.random().toString(36).slice(2)}`;

/** The outermost node of a widget; the notebook leaves its keys alone. */
export const widget = (name, label, attributes, ...children) => h("div", {
  role: "group", "aria-label": label, "data-lm-suppress-shortcuts": true, ...attributes,
  class: `turing-widget turing-${name} ${attributes.class ?? ""}`.trim(),
}, ...children);

/** One of a few values, as buttons; an option is a text and what to put if it is chosen. */
export function createChoice(label, options, choose) {
  const list = h("span", { class: "options" });
  const offer = (next) => {
    options = next;
    list.replaceChildren(...options.map(([text, value]) => button(text, () => choose(value))));
  };
  offer(options);
  return {
    node: h("div", { class: "choice", role: "group", "aria-label": label },
      h("span", { class: "label", "aria-hidden": true }, label), list),
    offer,
    show: (isChosen) => options.forEach(([, value], i) =>
      list.children[i].setAttribute("aria-pressed", isChosen(value))),
  };
}

/** Whether a control has a use of its own for a key: a slider for arrows, a button for the space bar. */
function isTaken(target, key) {
  if (target.matches("input[type=range]")) return /^(Arrow|Home|End)/.test(key);
  return target.matches("button") ? key === " " : target.matches("input, select, textarea");
}
/** Act on keys that are pressed without a modifier: `actionsFor(event)` has the actions by key. */
export const onKeys = (root, actionsFor) => on(root, "keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || isTaken(event.target, event.key)) return;
  const action = actionsFor(event)?.[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
});

/** Act when a node has another width, and when the page has another theme; returns what ends it. */
export function watch(node, onWidth, onTheme) {
  let width = node.clientWidth;
  const resized = new ResizeObserver(() => width !== (width = node.clientWidth) && onWidth());
  const themed = new MutationObserver(onTheme);
  resized.observe(node);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => (resized.disconnect(), themed.disconnect());
}

/** Listen to traits of the model, by name; returns what ends it. */
export function listen(model, listeners) {
  for (const [name, listener] of Object.entries(listeners)) model.on(`change:${name}`, listener);
  return () => Object.entries(listeners).forEach(([name, listener]) => model.off(`change:${name}`, listener));
}
/** Set traits of the model, and tell the kernel. */
export function put(model, changes) {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
}
