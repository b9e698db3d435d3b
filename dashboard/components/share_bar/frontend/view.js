// The component's DOM. Labels enter through textContent only.

import { percent, range } from "./shares.js";

const NARROW = 46; // pixels that a number needs inside its part
const PATTERNS = { "": "plain", "/": "stripes", ".": "dots", x: "crosses" };

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function look(node, part) {
  node.style.setProperty("--part", part.colour);
  node.classList.add(`shares-${PATTERNS[part.pattern] ?? "plain"}`);
}

/** Build the bar, a handle between every two parts unless it is fixed, and the legend with the numbers. */
export function buildView(root, label, parts, fixed = false) {
  const wrapper = element("div", "shares");
  const bar = element("div", "shares-bar");
  bar.dataset.testid = fixed ? "share-bar-beside" : "share-bar";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", label);
  const pieces = parts.map((part) => buildPiece(part));
  bar.append(...pieces.map(({ piece }) => piece));
  const handles = fixed ? [] : parts.slice(1).map((part, index) => buildHandle(parts[index], part));
  bar.append(...handles);
  const legend = element("ul", "shares-legend");
  legend.dataset.testid = "share-legend";
  const entries = parts.map((part) => buildEntry(part));
  legend.append(...entries.map(({ item }) => item));
  const message = element("div", "shares-message");
  message.setAttribute("role", "status");
  message.setAttribute("aria-live", "polite");
  wrapper.append(element("div", "shares-label", label), bar, legend, message);
  root.append(wrapper);
  return { wrapper, bar, pieces, handles, entries, message };
}

function buildPiece(part) {
  const piece = element("div", "shares-part");
  piece.title = part.about ? `${part.label}: ${part.about}` : part.label;
  look(piece, part);
  const number = element("span", "shares-number");
  piece.append(number);
  return { piece, number };
}

function buildHandle(left, right) {
  const handle = element("div", "shares-handle");
  handle.tabIndex = 0;
  handle.setAttribute("role", "slider");
  handle.setAttribute("aria-orientation", "horizontal");
  handle.setAttribute("aria-label", `Between ${left.label} and ${right.label}`);
  return handle;
}

function buildEntry(part) {
  const item = element("li", "");
  item.title = part.about;
  const swatch = element("span", "shares-swatch");
  look(swatch, part);
  const number = element("strong", "");
  item.append(swatch, element("span", "", part.label), number);
  return { item, number };
}

/** Put the parts, the numbers and the handles where the shares say. */
export function showShares(view, parts, tenths, leasts) {
  const width = view.bar.clientWidth || 600;
  let before = 0;
  view.pieces.forEach(({ piece, number }, i) => {
    piece.style.left = `${before / 10}%`;
    piece.style.width = `${tenths[i] / 10}%`;
    number.textContent = (tenths[i] / 1000) * width < NARROW ? "" : percent(tenths[i]);
    view.entries[i].number.textContent = percent(tenths[i]);
    before += tenths[i];
  });
  view.handles.forEach((handle, i) => {
    const { now, low, high } = range(tenths, leasts, i);
    handle.style.left = `${now / 10}%`;
    handle.setAttribute("aria-valuemin", low / 10);
    handle.setAttribute("aria-valuemax", high / 10);
    handle.setAttribute("aria-valuenow", now / 10);
    handle.setAttribute(
      "aria-valuetext",
      `${parts[i].label} ${percent(tenths[i])}, ${parts[i + 1].label} ${percent(tenths[i + 1])}`,
    );
  });
  view.bar.dataset.tenths = JSON.stringify(tenths);
}
