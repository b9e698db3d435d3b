// One editor on the page. It owns edges and positions of a revision; Python owns everything else.

import { EdgeDrawer } from "./draw_mode.js";
import * as edits from "./edits.js";
import { sameEdge } from "./graph.js";
import { labelFont, plain, textWidth, wrap } from "./labels.js";
import { bounds, rows, tidy } from "./layout.js";
import { createNetwork, drawPreview, recolourEdges } from "./network.js";
import { nodeSize } from "./shapes.js";
import { readTheme } from "./theme.js";
import { buildTooltip, buildView, fillLegend } from "./view.js";

const SEND_MOVES_AFTER_MS = 400;
const PUBLISH_AFTER_MS = 60;
const PADDING = 28;
const LARGEST_SCALE = 1.15;
const DRAW_HINT = "Drag from a cause to its effect. Press Draw edge again, or Escape, to stop.";
const HINT = "Drag a column to move it, click an edge to select it. Ctrl and the wheel zoom.";

export class Editor {
  constructor(root) {
    this.root = root;
    this.rev = null;
    this.names = [];
    this.edges = [];
    this.view = buildView(root, {
      draw: () => this.setDrawing(!this.drawer.active),
      delete: () => this.deleteSelected(),
      reverse: () => this.reverseSelected(),
      tidy: () => this.tidyUp(),
      fit: () => this.fit(),
      zoomIn: () => this.zoom(1.25),
      zoomOut: () => this.zoom(0.8),
    });
    this.drawer = new EdgeDrawer(this.view.canvas, {
      nodeAt: (point) => this.network.getNodeAt(point),
      onEdge: (from, to) =>
        this.apply(edits.add(this.edges, this.nameOf.get(from), this.nameOf.get(to))),
      onPick: (id) => this.say(`${plain(this.nameOf.get(id))} → ? Now click the effect.`),
      onMiss: () => this.say("There is no column there; the edge was not added.", true),
      redraw: () => this.network?.redraw(),
    });
    this.listen();
  }

  /** Take what Python sent. `send(graph)` hands a graph to Python. */
  update(data, send) {
    this.send = send;
    this.theme = readTheme(this.root);
    const names = data.nodes.map((node) => node.name);
    const newNames = names.length !== this.names.length
      || names.some((name, i) => name !== this.names[i]);
    const newRev = data.rev !== this.rev;
    this.rev = data.rev;
    this.view.canvas.style.height = `${data.height}px`;
    this.looks = new Map(data.nodes.map((node) => [node.name, node]));
    if (newNames) this.rebuild(names);
    if (newNames || newRev) this.takeGraph(data);
    this.restyle(data);
  }

  destroy() {
    clearTimeout(this.sendTimer);
    clearTimeout(this.publishTimer);
    this.resizes.disconnect();
    this.drawer.destroy();
    this.network?.destroy();
    this.network = null;
    this.view.wrapper.remove();
  }

  // ---- building and restyling ------------------------------------------------------------------

  rebuild(names) {
    this.network?.destroy();
    this.names = names;
    this.idOf = new Map(names.map((name, i) => [name, `n${i}`]));
    this.nameOf = new Map(names.map((name, i) => [`n${i}`, name]));
    this.lines = new Map(names.map((name, i) => [`n${i}`, wrap(name)]));
    this.tooltips = new Map(names.map((_, i) => [`n${i}`, buildTooltip()]));
    this.measure();
    const titles = new Map([...this.tooltips].map(([id, { box }]) => [id, box]));
    Object.assign(this, createNetwork(this.view.canvas, [...this.nameOf.keys()], titles, {
      look: (id) => this.look(id),
      sizeOf: (id) => this.sizes.get(id),
      theme: () => this.theme,
    }));
    this.network.on("select", () => this.describeSelection());
    this.network.on("zoom", () => (this.viewTouched = true));
    this.network.on("dragEnd", ({ nodes }) => (nodes.length ? this.nodeMoved() : this.viewMoved()));
    this.network.on("afterDrawing", (ctx) => this.afterDrawing(ctx));
    this.useLateFonts();
  }

  measure() {
    this.sizes = new Map([...this.lines].map(([id, lines]) =>
      [id, nodeSize(textWidth(lines, this.theme), lines.length)]));
  }

  // The page's font may arrive after the first drawing; text then has another width.
  useLateFonts() {
    const network = this.network;
    const fonts = [true, false].map((bold) => document.fonts.load(labelFont(this.theme, bold)));
    Promise.all(fonts).then(() => {
      const before = JSON.stringify([...this.sizes]);
      if (this.network === network) this.measure();
      if (this.network !== network || JSON.stringify([...this.sizes]) === before) return;
      if (this.autoPlaced && !this.viewTouched) this.place(this.tidyPlaces());
      if (!this.viewTouched) this.fit();
      network.redraw();
    }, () => undefined);
  }

  /** Replace edges and positions by Python's: a new revision has begun. */
  takeGraph(data) {
    clearTimeout(this.sendTimer);
    this.drawer.cancel();
    this.edges = data.edges.filter((edge) => edge.every((name) => this.idOf.has(name)));
    this.syncEdges();
    this.network.unselectAll();
    const given = new Map(data.positions.map(([name, x, y]) => [this.idOf.get(name), { x, y }]));
    this.autoPlaced = given.size === 0;
    if (this.autoPlaced) {
      this.place(this.tidyPlaces());
      this.fit();
    } else {
      this.place(this.withNewcomers(given));
      if (!this.viewTouched) this.fit();
    }
    this.say(HINT);
  }

  restyle(data) {
    for (const [id, tooltip] of this.tooltips) {
      const node = this.looks.get(this.nameOf.get(id));
      tooltip.name.textContent = plain(node.name);
      tooltip.words.textContent = node.tooltip;
    }
    const signature = JSON.stringify([data.legend, this.theme]);
    if (signature !== this.signature) {
      fillLegend(this.view.legend, data.legend, this.theme);
      recolourEdges(this.network, this.theme);
      this.signature = signature;
    }
    this.network.redraw();
    this.refreshTools();
  }

  look(id) {
    const node = this.looks.get(this.nameOf.get(id));
    const ringed = this.drawer.from === id;
    return { role: node.role, inS: node.in_s, lines: this.lines.get(id), ringed };
  }

  // ---- places ----------------------------------------------------------------------------------

  area() {
    const { clientWidth, clientHeight } = this.view.canvas;
    return {
      width: (clientWidth || 900) - 2 * PADDING,
      height: (clientHeight || 560) - 2 * PADDING,
    };
  }

  tidyPlaces() {
    const edges = this.edges.map((edge) => edge.map((name) => this.idOf.get(name)));
    return tidy([...this.nameOf.keys()], edges, (id) => this.sizes.get(id), this.area());
  }

  // Columns Python knows no place for stand in rows beneath the rest.
  withNewcomers(given) {
    const sizeOf = (id) => this.sizes.get(id);
    const box = bounds(given, sizeOf);
    const missing = [...this.nameOf.keys()].filter((id) => !given.has(id));
    const width = Math.max(box.right - box.left, 600);
    for (const [id, { x, y }] of rows(missing, sizeOf, width, box.bottom + 48)) {
      given.set(id, { x: x + box.left, y });
    }
    return given;
  }

  place(places) {
    for (const [id, { x, y }] of places) this.network.moveNode(id, x, y);
  }

  positions() {
    return new Map(Object.entries(this.network.getPositions()));
  }

  fit() {
    if (!this.names.length) return;
    const box = bounds(this.positions(), (id) => this.sizes.get(id));
    const area = this.area();
    const scale = Math.min(LARGEST_SCALE, area.width / (box.right - box.left),
      area.height / (box.bottom - box.top));
    const position = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    this.network.moveTo({ position, scale, animation: false });
    this.viewTouched = false;
  }

  zoom(factor) {
    this.network.moveTo({ scale: this.network.getScale() * factor, animation: false });
    this.viewMoved();
  }

  tidyUp() {
    this.place(this.tidyPlaces());
    this.fit();
    this.sendGraph();
    this.say("The graph was laid out anew.");
  }

  nodeMoved() {
    this.autoPlaced = false;
    // Otherwise a resize of the page would shift the drawing under the user's hand.
    this.viewTouched = true;
    clearTimeout(this.sendTimer);
    this.sendTimer = setTimeout(() => this.sendGraph(), SEND_MOVES_AFTER_MS);
  }

  viewMoved() {
    this.viewTouched = true;
  }

  // ---- edges -----------------------------------------------------------------------------------

  deleteSelected() {
    this.apply(edits.remove(this.edges, this.selectedEdge()));
  }

  reverseSelected() {
    const edge = this.selectedEdge();
    this.apply(edits.reverse(this.edges, edge));
    const turned = edge && this.edges.find((other) => sameEdge(other, [edge[1], edge[0]]));
    if (!turned) return;
    const selection = { nodes: [], edges: [this.edgeId(turned)] };
    this.network.setSelection(selection, { unselectAll: true, highlightEdges: false });
    this.refreshTools();
  }

  apply({ edges, words, refused = false }) {
    if (edges) {
      this.edges = edges;
      this.syncEdges();
      this.sendGraph();
      this.refreshTools();
    }
    this.say(words, refused);
  }

  edgeId([from, to]) {
    return `${this.idOf.get(from)}>${this.idOf.get(to)}`;
  }

  syncEdges() {
    const wanted = new Map(this.edges.map((edge) => [this.edgeId(edge), edge]));
    const drawn = this.edgeSet.getIds();
    this.edgeSet.remove(drawn.filter((id) => !wanted.has(id)));
    const fresh = [...wanted].filter(([id]) => !drawn.includes(id));
    this.edgeSet.add(fresh.map(([id, [from, to]]) =>
      ({ id, from: this.idOf.get(from), to: this.idOf.get(to) })));
  }

  selectedEdge() {
    const [id] = this.network.getSelectedEdges();
    return this.edges.find((edge) => this.edgeId(edge) === id);
  }

  // ---- talking ---------------------------------------------------------------------------------

  /** One state update with everything the browser owns; a move that waited goes along. */
  sendGraph() {
    clearTimeout(this.sendTimer);
    const positions = Object.fromEntries([...this.positions()].map(([id, { x, y }]) =>
      [this.nameOf.get(id), [Math.round(x), Math.round(y)]]));
    this.send({ rev: this.rev, edges: this.edges, positions });
  }

  say(words, refused = false) {
    this.view.message.textContent = words;
    this.view.message.classList.toggle("refused", refused);
  }

  setDrawing(active) {
    this.drawer.setActive(active);
    this.network.unselectAll();
    this.view.canvas.classList.toggle("drawing", active);
    this.refreshTools();
    this.say(active ? DRAW_HINT : HINT);
  }

  describeSelection() {
    const edge = this.selectedEdge();
    const words = "Delete or reverse it, or press the Delete key.";
    if (edge) this.say(`Selected: ${edits.arrow(edge)}. ${words}`);
    else if (!this.drawer.active) this.say(HINT);
    this.refreshTools();
  }

  refreshTools() {
    const { draw, delete: remove, reverse } = this.view.buttons;
    draw.setAttribute("aria-pressed", String(this.drawer.active));
    // aria-disabled, not disabled: a disabled button drops the keyboard focus and cannot say why.
    const none = String(!this.selectedEdge());
    [remove, reverse].forEach((button) => button.setAttribute("aria-disabled", none));
    const count = `${this.names.length} columns, ${this.edges.length} edges`;
    const frame = this.view.canvas.firstElementChild;
    frame?.setAttribute("role", "application");
    frame?.setAttribute("aria-label", `Causal graph: ${count}. Delete removes the selected edge.`);
  }

  listen() {
    const { canvas } = this.view;
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    const focus = () => canvas.firstElementChild?.focus({ preventScroll: true });
    canvas.addEventListener("pointerdown", focus);
    // A plain wheel scrolls the page; with Ctrl (or a pinch) it zooms the graph.
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    }, { capture: true });
    this.resizes = new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.network && !this.viewTouched) this.fit();
    }));
    this.resizes.observe(canvas);
  }

  onKey(event) {
    if (event.key === "Delete" || event.key === "Backspace") this.deleteSelected();
    else if (event.key === "Escape" && this.drawer.from !== null) this.drawer.cancel();
    else if (event.key === "Escape" && this.drawer.active) this.setDrawing(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- after each drawing ----------------------------------------------------------------------

  afterDrawing(ctx) {
    const { from, pointer } = this.drawer;
    if (from !== null && pointer) {
      const start = this.network.getPosition(from);
      drawPreview(ctx, start, this.network.DOMtoCanvas(pointer), this.theme);
    }
    clearTimeout(this.publishTimer);
    this.publishTimer = setTimeout(() => this.publish(), PUBLISH_AFTER_MS);
  }

  /** Say in attributes where things are: for tests and for assistive tools. */
  publish() {
    const { clientLeft, clientTop } = this.view.canvas;
    const places = [...this.positions()].map(([id, place]) => {
      const { x, y } = this.network.canvasToDOM(place);
      return [this.nameOf.get(id), [Math.round(x + clientLeft), Math.round(y + clientTop)]];
    });
    this.view.canvas.dataset.nodes = JSON.stringify(Object.fromEntries(places));
    this.view.canvas.dataset.edges = JSON.stringify(this.edges);
  }
}
