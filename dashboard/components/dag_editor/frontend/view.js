// The component's DOM: tools, search, message line, canvas, legend, keys. Names enter through textContent only.

import { KEYS } from "./keyboard.js";
import { drawShape } from "./shapes.js";

const TOOLS = [
  ["draw", "Draw edge", "Draw edge: drag from a cause to its effect, until switched off"],
  ["delete", "Delete", "Delete the selected edge"],
  ["reverse", "Reverse", "Reverse the selected edge"],
  ["tidy", "Tidy layout", "Tidy layout: causes above, effects below"],
  ["fit", "Fit", "Fit the whole graph into view"],
  ["zoomIn", "Zoom in", "Zoom in"],
  ["zoomOut", "Zoom out", "Zoom out"],
];

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Build the empty component. `actions` maps a tool's name to what its button does. */
export function buildView(root, actions) {
  const wrapper = element("div", "dag");
  const tools = element("div", "dag-tools");
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Graph tools");
  const buttons = {};
  for (const [name, words, label] of TOOLS) {
    const button = element("button", "", words);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => actions[name]());
    buttons[name] = button;
    tools.append(button);
  }
  buttons.draw.setAttribute("aria-pressed", "false");
  const { field, search, names } = buildSearch(actions.find);
  tools.append(field);
  const message = element("div", "dag-message");
  message.setAttribute("role", "status");
  message.setAttribute("aria-live", "polite");
  message.dataset.testid = "dag-message";
  const canvas = element("div", "dag-canvas");
  canvas.dataset.testid = "dag-canvas";
  const legend = element("ul", "dag-legend");
  legend.dataset.testid = "dag-legend";
  legend.setAttribute("aria-label", "What shapes and borders mean");
  const stage = element("div", "dag-stage");
  const lost = element("button", "dag-lost", "No column is in view. Fit the graph");
  lost.type = "button";
  lost.hidden = true;
  lost.addEventListener("click", () => actions.fit());
  stage.append(canvas, lost);
  const tray = element("div", "dag-tray");
  tray.dataset.testid = "dag-tray";
  tray.setAttribute("role", "group");
  tray.setAttribute("aria-label", "Columns without an edge");
  wrapper.append(tools, stage, tray, message, legend, buildKeys());
  root.append(wrapper);
  return { wrapper, buttons, message, canvas, legend, search, names, tray, lost };
}

function buildSearch(find) {
  const field = element("label", "dag-search");
  const search = element("input");
  search.type = "search";
  search.placeholder = "Find a column";
  search.autocomplete = "off";
  search.setAttribute("aria-label", "Find a column: type a part of its name and press Enter");
  const names = element("datalist");
  names.id = "dag-names";
  search.setAttribute("list", names.id);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    find(search.value);
  });
  // A choice from the list needs no Enter: typing never inserts a whole name at once.
  search.addEventListener("input", (event) => {
    if (event.inputType === "insertReplacementText" || !event.inputType) find(search.value);
  });
  field.append(search, names);
  return { field, search, names };
}

function buildKeys() {
  const box = element("details", "dag-keys");
  const list = element("dl");
  for (const [keys, words] of KEYS) list.append(element("dt", "", keys), element("dd", "", words));
  box.append(element("summary", "", "Keys, while the drawing has the focus"), list);
  return box;
}

/** Offer these names while a column is being looked for. */
export function fillNames(list, names) {
  list.replaceChildren(...names.map((name) => {
    const option = element("option");
    option.value = name;
    return option;
  }));
}

/** The columns without an edge, each a button that brings it onto the drawing. */
export function fillTray(tray, names, bring) {
  tray.hidden = !names.length;
  const chips = names.map((name) => {
    const chip = element("button", "", name);
    chip.type = "button";
    chip.title = "Bring it onto the drawing";
    chip.addEventListener("click", () => bring(name));
    return chip;
  });
  const words = names.length === 1 ? "1 column without an edge:" : `${names.length} columns without an edge:`;
  tray.replaceChildren(element("span", "", words), ...chips);
}

/** The legend, drawn with the very function that draws the nodes. */
export function fillLegend(legend, entries, theme) {
  const ratio = window.devicePixelRatio || 1;
  const items = entries.map((entry) => {
    const item = element("li");
    const swatch = element("canvas");
    swatch.setAttribute("aria-hidden", "true");
    const [w, h] = [32, 20];
    [swatch.width, swatch.height] = [w * ratio, h * ratio];
    [swatch.style.width, swatch.style.height] = [`${w}px`, `${h}px`];
    const ctx = swatch.getContext("2d");
    ctx.scale(ratio, ratio);
    const box = { x: w / 2, y: h / 2, w: w - 6, h: h - 6 };
    drawShape(ctx, { role: entry.role ?? "other", inS: entry.in_s }, box, theme);
    item.append(swatch, element("span", "", entry.text));
    return item;
  });
  legend.replaceChildren(...items);
}

/** Tooltip of a node: its whole name and a sentence about it. */
export function buildTooltip() {
  const box = element("div");
  const name = element("strong");
  const words = element("span");
  box.append(name, words);
  return { box, name, words };
}
