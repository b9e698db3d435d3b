// The component's DOM: tools, message line, canvas, legend. Names enter through textContent only.

import { drawShape } from "./shapes.js";

const TOOLS = [
  ["draw", "Draw edge", "Draw edge: drag from a cause to its effect, until switched off"],
  ["delete", "Delete", "Delete the selected edge"],
  ["reverse", "Reverse", "Reverse the selected edge"],
  ["tidy", "Tidy layout", "Tidy layout: causes left, effects right"],
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
  const message = element("div", "dag-message");
  message.setAttribute("role", "status");
  message.setAttribute("aria-live", "polite");
  message.dataset.testid = "dag-message";
  const canvas = element("div", "dag-canvas");
  canvas.dataset.testid = "dag-canvas";
  const legend = element("ul", "dag-legend");
  legend.dataset.testid = "dag-legend";
  legend.setAttribute("aria-label", "What shapes and borders mean");
  wrapper.append(tools, message, canvas, legend);
  root.append(wrapper);
  return { wrapper, buttons, message, canvas, legend };
}

/** The legend, drawn with the very function that draws the nodes. */
export function fillLegend(legend, entries, theme) {
  const ratio = window.devicePixelRatio || 1;
  const items = entries.map((entry) => {
    const item = element("li");
    const swatch = element("canvas");
    swatch.setAttribute("aria-hidden", "true");
    const [w, h] = [46, 26];
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
