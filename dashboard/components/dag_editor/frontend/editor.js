// One editor on the page. It owns edges and positions of a revision; Python owns everything else.

import { EdgeDrawer } from "./draw_mode.js";
import * as edits from "./edits.js";
import { sameEdge } from "./graph.js";
import { neighbour, onKey } from "./keyboard.js";
import { labelFont, plain } from "./labels.js";
import { drawPreview } from "./network.js";
import { matches } from "./search.js";
import { Stage } from "./stage.js";
import { readTheme } from "./theme.js";
import { buildView, fillLegend, fillNames, fillTray } from "./view.js";

const SEND_MOVES_AFTER_MS = 400;
const PUBLISH_AFTER_MS = 60;
const NAMED_NEIGHBOURS = 5;
const PULSE_MS = 1_000; // of what enters or leaves S
const DRAW_HINT = "Drag from a cause to its effect. Press Draw edge again, or Escape, to stop.";
const HINT =
  "To draw: press Draw edge, then drag from a cause to its effect. " +
  "Drag a column to move it, click an edge to select it.";

export class Editor {
  constructor(root) {
    this.root = root;
    this.rev = null;
    this.edges = [];
    this.mount = `${Date.now()} ${Math.random()}`;
    this.steps = this.tidies = 0;
    this.selected = this.hovered = this.tidied = null; // ids of edges; the layout that is awaited
    this.sent = false; // whether Python has places of this revision from here
    this.revealed = new Set();
    this.inS = new Set();
    this.pulse = null;
    this.view = buildView(root, {
      draw: () => this.setDrawing(!this.drawer.active),
      delete: () => this.deleteSelected(),
      reverse: () => this.reverseSelected(),
      tidy: () => this.tidyUp(),
      fit: () => this.fit(),
      zoomIn: () => this.zoom(1.25),
      zoomOut: () => this.zoom(0.8),
      find: (text) => this.find(text),
    });
    this.stage = new Stage(this.view.canvas, {
      look: (id) => this.look(id),
      theme: () => this.theme,
      edgeLook: (id) => this.edgeLook(id),
    });
    this.drawer = new EdgeDrawer(this.view.canvas, {
      nodeAt: (point) => this.network.getNodeAt(point),
      onEdge: (from, to) => this.addEdge(from, to),
      onPick: (id) => this.say(`${this.spoken(id)} → ? Now click the effect.`),
      onMiss: () => this.say("There is no column there; the edge was not added.", true),
      redraw: () => this.followDrawing(),
    });
    this.listen();
  }

  followDrawing() {
    const { network, still } = this.stage;
    if (!network) return;
    if (this.drawer.from === null) still.release();
    else if (!still.held) still.hold([]);
    network.redraw();
  }

  get network() {
    return this.stage.network;
  }

  /** Take what Python sent. `send` hands a graph to Python, `go` asks it to undo or redo. */
  update(data, { send, go }) {
    Object.assign(this, { send, go });
    this.theme = readTheme(this.root, data.looks);
    const names = data.nodes.map((node) => node.name);
    const newNames = names.length !== this.stage.names.length
      || names.some((name, i) => name !== this.stage.names[i]);
    const newRev = data.rev !== this.rev;
    const newFocus = data.focus !== this.focus;
    Object.assign(this, { rev: data.rev, focus: data.focus, history: data.history });
    this.view.canvas.style.height = `${data.height}px`;
    this.looks = new Map(data.nodes.map((node) => [node.name, node]));
    if (newNames) this.rebuild(names);
    this.stage.measure(this.looks);
    // A graph that Python laid out anew is another one: what was looked for before is put back.
    if (newNames || newFocus || (newRev && data.arranged)) this.revealed.clear();
    if (newNames || newRev) this.takeGraph(data);
    else this.follow(data, newFocus);
    this.restyle(data);
  }

  destroy() {
    clearTimeout(this.sendTimer);
    clearTimeout(this.publishTimer);
    this.resizes.disconnect();
    this.pulse = null;
    this.drawer.destroy();
    this.stage.destroy();
    this.view.wrapper.remove();
  }

  // ---- building and restyling ------------------------------------------------------------------

  rebuild(names) {
    this.cursor = this.from = null;
    this.stage.rebuild(names);
    fillNames(this.view.names, names);
    if (!this.network) return;
    this.network.on("click", ({ nodes, pointer }) => this.clicked(nodes, pointer.canvas));
    this.network.on("zoom", () => (this.stage.viewTouched = true));
    this.network.on("dragStart", ({ nodes }) => {
      if (nodes.length) this.stage.still.hold(nodes);
    });
    this.network.on("dragEnd", ({ nodes }) => {
      this.stage.viewTouched = true;
      this.stage.still.release();
      if (nodes.length) this.nodeMoved();
    });
    this.network.on("afterDrawing", (ctx) => this.afterDrawing(ctx));
    this.useLateFonts();
  }

  // The page's font may arrive after the first drawing.
  useLateFonts() {
    const network = this.network;
    const fonts = [true, false].map((bold) => document.fonts.load(labelFont(this.theme, bold)));
    Promise.all(fonts).then(() => {
      if (this.network === network) network.redraw();
    }, () => undefined);
  }

  /** Replace edges and positions by Python's: a new revision has begun. */
  takeGraph(data) {
    clearTimeout(this.sendTimer);
    this.drawer.cancel();
    this.from = null;
    const { stage } = this;
    this.edges = data.edges.filter((edge) => edge.every((name) => stage.idOf.has(name)));
    this.selected = this.hovered = this.tidied = null;
    this.sent = false;
    stage.places = new Map();
    this.showColumns();
    this.network.unselectAll();
    this.takePlaces(data, true);
    if (data.arranged || !stage.viewTouched) stage.fit();
    this.say(this.asked ?? this.hint());
    this.asked = null;
  }

  /**
   * Take places and ways over.
   * @param all whether also of the columns that have a place here
   */
  takePlaces({ places, ways }, all) {
    const { stage } = this;
    const wanted = places.filter(([name]) => {
      const id = stage.idOf.get(name);
      return stage.shown.has(id) && (all || !stage.places.has(id));
    });
    stage.place(new Map(wanted.map(([name, x, y]) => [stage.idOf.get(name), { x, y }])));
    stage.lead(ways, places);
  }

  /** Which columns are shown: those that Python does not hide, and those looked for since. */
  showColumns() {
    const { stage } = this;
    for (const [name, node] of this.looks) {
      if (!node.hidden) this.revealed.add(stage.idOf.get(name));
    }
    const fresh = stage.show(this.revealed);
    stage.setEdges(this.edges);
    return fresh;
  }

  /** The same graph: other columns may be hidden, a layout asked for may arrive, and ways do. */
  follow(data, newFocus) {
    const { stage } = this;
    const before = stage.shown.size;
    const fresh = this.showColumns();
    const tidied = this.tidied !== null && this.tidied === data.tidied;
    if (tidied) this.tidied = null;
    const laidOut = tidied || (data.arranged && !this.sent);
    this.takePlaces(data, laidOut);
    const others = fresh.length > 0 || before !== stage.shown.size;
    if (tidied || (others && (newFocus || !stage.viewTouched))) stage.fit();
  }

  restyle(data) {
    this.stage.describe(this.looks);
    this.stage.still.release(); // columns may look different now
    this.noticeS();
    this.fillTray();
    const signature = JSON.stringify([data.legend, this.theme]);
    if (signature !== this.signature) {
      fillLegend(this.view.legend, data.legend, this.theme);
      this.signature = signature;
    }
    this.network.redraw();
    this.refreshTools();
  }

  look(id) {
    const node = this.looks.get(this.stage.nameOf.get(id));
    const ringed = this.drawer.from === id || this.from === id;
    const faded = this.inS.size > 0 && !node.in_s && node.role !== "target";
    return { role: node.role, inS: node.in_s, ringed, faded, scale: this.scaleOf(id) };
  }

  /** What enters S grows for a moment, what leaves it shrinks. */
  scaleOf(id) {
    if (!this.pulse) return 1;
    const swing = Math.sin(Math.PI * this.pulse.progress);
    if (this.pulse.entered.has(id)) return 1 + 0.22 * swing;
    return this.pulse.left.has(id) ? 1 - 0.18 * swing : 1;
  }

  /** Compare S with the S before: moves what changed, and says it where no edge was drawn. */
  noticeS() {
    const before = this.inS;
    this.inS = new Set([...this.looks.values()].filter((node) => node.in_s).map(({ name }) => name));
    const edges = JSON.stringify(this.edges);
    const sameEdges = edges === this.edgesOfS;
    this.edgesOfS = edges;
    const ids = (names) => names.map((name) => this.stage.idOf.get(name)).filter(Boolean);
    const entered = ids([...this.inS].filter((name) => !before.has(name)));
    const left = ids([...before].filter((name) => !this.inS.has(name)));
    if (!before.size || !(entered.length || left.length)) return;
    if (sameEdges) this.sayS(entered, left);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.pulse = { entered: new Set(entered), left: new Set(left), start: performance.now(), progress: 0 };
    requestAnimationFrame(() => this.beat());
  }

  sayS(entered, left) {
    const listed = (ids) => ids.map((id) => this.spoken(id)).join(", ");
    const parts = [];
    if (entered.length) parts.push(`Protected now: ${listed(entered)}.`);
    if (left.length) parts.push(`No longer protected: ${listed(left)}.`);
    this.say(parts.join(" "));
  }

  beat() {
    if (!this.pulse || !this.network) return;
    this.pulse.progress = (performance.now() - this.pulse.start) / PULSE_MS;
    if (this.pulse.progress >= 1) this.pulse = null;
    else requestAnimationFrame(() => this.beat());
    this.network.redraw();
  }

  // ---- the tray of columns without an edge -----------------------------------------------------

  fillTray() {
    const { shown, idOf } = this.stage;
    const names = [...this.looks.values()]
      .filter((node) => node.tray && !shown.has(idOf.get(node.name))).map(({ name }) => name);
    fillTray(this.view.tray, names, (name) => this.bring(name));
  }

  /** Bring a column from the tray onto the drawing. */
  bring(name) {
    const id = this.stage.idOf.get(name);
    this.show(id);
    this.goTo(id);
    this.say(`${plain(name)} is on the drawing now. Draw an edge from it or to it.`);
  }

  /** Show a hidden column beneath the rest, until Python has placed it. */
  show(id) {
    if (this.stage.shown.has(id)) return;
    this.revealed.add(id);
    this.showColumns();
    this.stage.placeBeneath(id);
    this.stage.describe(this.looks);
    this.fillTray();
    this.sendGraph();
  }

  edgeLook(id) {
    if (id === this.selected) return { colour: this.theme.accent, width: 3 };
    if (id === this.hovered) return { colour: this.theme.text, width: 2.4 };
    const faded = id.split(">").some((end) => this.look(end).faded);
    return { colour: faded ? this.theme.faintEdge : this.theme.edge, width: faded ? 1.3 : 1.9 };
  }

  spoken(id) {
    return plain(this.stage.nameOf.get(id));
  }

  // ---- places ----------------------------------------------------------------------------------

  fit() {
    this.stage.fit();
  }

  zoom(factor) {
    this.stage.zoom(factor);
  }

  tidyUp() {
    clearTimeout(this.sendTimer);
    this.tidied = `${this.mount} ${(this.tidies += 1)}`;
    this.sendGraph();
    this.say("The graph was laid out anew.");
  }

  nodeMoved() {
    this.sent = true;
    // Otherwise a resize of the page would shift the drawing under the user's hand.
    this.stage.viewTouched = true;
    clearTimeout(this.sendTimer);
    this.sendTimer = setTimeout(() => this.sendGraph(), SEND_MOVES_AFTER_MS);
  }

  // ---- edges -----------------------------------------------------------------------------------

  addEdge(from, to) {
    const { nameOf } = this.stage;
    this.apply(edits.add(this.edges, nameOf.get(from), nameOf.get(to)));
  }

  deleteSelected() {
    this.apply(edits.remove(this.edges, this.selectedEdge()));
  }

  reverseSelected() {
    const edge = this.selectedEdge();
    this.apply(edits.reverse(this.edges, edge));
    const turned = edge && this.edges.find((other) => sameEdge(other, [edge[1], edge[0]]));
    if (turned) this.selectEdge(turned);
  }

  apply({ edges, words, refused = false }) {
    if (edges) {
      this.edges = edges;
      this.history = { undo: true, redo: false }; // as Python will say: the next key may be faster
      this.stage.setEdges(edges);
      this.sendGraph();
      this.refreshTools();
    }
    this.say(words, refused);
  }

  selectEdge(edge) {
    this.network.unselectAll();
    this.selected = this.stage.edgeId(edge);
    this.network.redraw();
    this.refreshTools();
  }

  selectedEdge() {
    return this.edges.find((edge) => this.stage.edgeId(edge) === this.selected);
  }

  // ---- from the keyboard -----------------------------------------------------------------------

  /** The column the keys speak of: the one selected last, else the target. */
  here() {
    const { shown, idOf } = this.stage;
    if (shown.has(this.cursor)) return this.cursor;
    const target = [...this.looks.values()].find((node) => node.role === "target");
    const start = idOf.get(target?.name);
    return shown.has(start) ? start : [...shown][0];
  }

  goTo(id) {
    this.cursor = id;
    this.selected = null;
    this.network.selectNodes([id], false);
    this.stage.reveal(id);
    this.refreshTools();
    const from = this.from !== null && this.from !== id ? `${this.spoken(this.from)} → ? ` : "";
    this.say(from + this.about(id));
  }

  walk(way) {
    if (!this.stage.shown.size) return;
    const moved = this.stage.shown.has(this.cursor)
      ? neighbour(this.stage.visiblePlaces(), this.cursor, way) : this.here();
    if (moved) this.goTo(moved);
    else this.say(`There is no column further that way. ${this.about(this.cursor)}`);
  }

  nudge(dx, dy) {
    const id = this.here();
    const { x, y } = this.network.getPosition(id);
    this.stage.place(new Map([[id, { x: x + dx, y: y + dy }]]));
    this.nodeMoved();
  }

  drawFromHere() {
    const id = this.here();
    if (this.from === null) {
      this.from = id;
      this.goTo(id);
      this.say(`${this.spoken(id)} → ? Go to the effect with the arrow keys and press Enter.`);
      return;
    }
    const { from } = this;
    this.from = null;
    this.addEdge(from, id);
    this.network.redraw();
  }

  nextEdge() {
    const name = this.stage.nameOf.get(this.here());
    const drawn = this.edges.filter((edge) => edge.includes(name)
      && edge.every((end) => this.stage.shown.has(this.stage.idOf.get(end))));
    if (!drawn.length) {
      this.say(`${plain(name)} has no edges.`);
      return;
    }
    this.cursor = this.here();
    this.selectEdge(drawn[(drawn.indexOf(this.selectedEdge()) + 1) % drawn.length]);
    this.describeSelection();
  }

  stop() {
    if (this.from !== null) {
      this.from = null;
      this.network.redraw();
      this.say(this.hint());
    } else if (this.drawer.from !== null) this.drawer.cancel();
    else if (this.drawer.active) this.setDrawing(false);
  }

  /** Undo or redo: Python keeps the history, because the panel beside the drawing undoes, too. */
  ask(name) {
    if (!this.history[name]) {
      this.say(`There is nothing to ${name}.`);
      return;
    }
    this.asked = name === "undo" ? "The last change was undone." : "The change was made again.";
    this.history = { ...this.history, [name === "undo" ? "redo" : "undo"]: true };
    this.steps += name === "undo" ? -1 : 1;
    this.go({ mount: this.mount, total: this.steps });
  }

  find(text) {
    if (!text.trim()) return;
    const found = matches(this.stage.names, text);
    if (!found.length) {
      this.say(`No column is called “${plain(text)}”, nor has that in its name.`, true);
      return;
    }
    this.turn = text === this.sought ? (this.turn + 1) % found.length : 0;
    this.sought = text;
    const id = this.stage.idOf.get(found[this.turn]);
    this.show(id);
    this.goTo(id);
    this.stage.centre(id);
    const more = found.length > 1 ? ` (${this.turn + 1} of ${found.length}: Enter for the next)` : "";
    this.say(`Found${more}: ${this.about(id)}`);
  }

  /** A column in a sentence, for the message line and so for screen readers. */
  about(id) {
    const name = this.stage.nameOf.get(id);
    const listed = (names) => {
      if (!names.length) return "none";
      const more = names.length - NAMED_NEIGHBOURS;
      const shown = names.slice(0, NAMED_NEIGHBOURS).map(plain).join(", ");
      return more > 0 ? `${shown} and ${more} more` : shown;
    };
    const causes = this.edges.filter(([, to]) => to === name).map(([from]) => from);
    const effects = this.edges.filter(([from]) => from === name).map(([, to]) => to);
    const { tooltip } = this.looks.get(name);
    return `${plain(name)}: ${tooltip}. Causes: ${listed(causes)}. Effects: ${listed(effects)}.`;
  }

  // ---- talking ---------------------------------------------------------------------------------

  /** One state update with everything the browser owns; a move that waited goes along. */
  sendGraph() {
    clearTimeout(this.sendTimer);
    this.sent = true;
    this.stage.remember();
    const places = this.tidied === null ? this.stage.places : new Map();
    const positions = Object.fromEntries([...places].map(([id, { x, y }]) =>
      [this.stage.nameOf.get(id), [Math.round(x), Math.round(y)]]));
    const revealed = [...this.revealed].map((id) => this.stage.nameOf.get(id));
    this.send({ rev: this.rev, edges: this.edges, positions, focus: this.focus, revealed,
      tidied: this.tidied ?? "" });
  }

  /** What can be done now: drawing goes on after an undo, wherever that was asked for. */
  hint() {
    return this.drawer.active ? DRAW_HINT : HINT;
  }

  say(words, refused = false) {
    this.view.message.textContent = words;
    this.view.message.classList.toggle("refused", refused);
  }

  setDrawing(active) {
    this.drawer.setActive(active);
    this.network.unselectAll();
    this.selected = null;
    this.view.canvas.classList.toggle("drawing", active);
    this.refreshTools();
    this.say(this.hint());
  }

  /** A click on a column or, where there is none, on an edge. */
  clicked([id], place) {
    if (id !== undefined) this.cursor = id;
    this.selected = id === undefined && !this.drawer.active ? this.edgeAt(place) : null;
    this.network.redraw();
    this.describeSelection();
  }

  edgeAt(place) {
    return this.stage.edges.at(place, this.network.getScale()) ?? null;
  }

  /** The edge under the pointer stands out, and the pointer says that it can be clicked. */
  hover({ offsetX, offsetY, buttons }) {
    if (!this.network || buttons || this.drawer.active) return;
    const point = { x: offsetX, y: offsetY };
    const over = this.network.getNodeAt(point) === undefined
      ? this.edgeAt(this.network.DOMtoCanvas(point)) : null;
    if (over === this.hovered) return;
    this.hovered = over;
    this.view.canvas.classList.toggle("over-edge", over !== null);
    this.network.redraw();
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
    const { names, shown } = this.stage;
    const hidden = names.length - shown.size;
    const count = `${names.length} columns${hidden ? ` (${hidden} hidden)` : ""}, `
      + `${this.edges.length} edges`;
    const frame = this.view.canvas.firstElementChild;
    frame?.setAttribute("role", "application");
    frame?.setAttribute("aria-label", `Causal graph: ${count}. Arrow keys go from column to `
      + "column; the other keys are listed beneath. All of it can be done in the list of edges, too.");
  }

  listen() {
    const { canvas } = this.view;
    canvas.addEventListener("keydown", (event) => {
      if (!this.network || !onKey(event, this)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    const focus = () => canvas.firstElementChild?.focus({ preventScroll: true });
    canvas.addEventListener("pointerdown", focus);
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    // A plain wheel scrolls the page; with Ctrl (or a pinch) it zooms the graph.
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    }, { capture: true });
    this.resizes = new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.network && !this.stage.viewTouched) this.stage.fit();
    }));
    this.resizes.observe(canvas);
  }

  // ---- after each drawing ----------------------------------------------------------------------

  afterDrawing(ctx) {
    this.preview(ctx);
    clearTimeout(this.publishTimer);
    this.publishTimer = setTimeout(() => this.publish(), PUBLISH_AFTER_MS);
  }

  /** The edge that is being drawn, with the mouse or from the keyboard. */
  preview(ctx) {
    const { from, pointer } = this.drawer;
    if (from !== null && pointer) {
      const start = this.network.getPosition(from);
      drawPreview(ctx, start, this.network.DOMtoCanvas(pointer), this.theme);
    } else if (this.from !== null && this.cursor !== this.from) {
      const [start, end] = [this.from, this.cursor].map((id) => this.network.getPosition(id));
      drawPreview(ctx, start, end, this.theme);
    }
  }

  /** Say in attributes where things are: for tests and for assistive tools. */
  publish() {
    const { clientLeft, clientTop } = this.view.canvas;
    const onScreen = (place) => {
      const { x, y } = this.network.canvasToDOM(place);
      return [Math.round(x + clientLeft), Math.round(y + clientTop)];
    };
    const places = [...this.stage.visiblePlaces()].map(([id, place]) =>
      [this.stage.nameOf.get(id), onScreen(place)]);
    const middles = this.stage.middles().map(({ names, place }) => [names, onScreen(place)]);
    const { clientWidth: width, clientHeight: height } = this.view.canvas;
    const inView = ([, [x, y]]) => x > 0 && y > 0 && x < width && y < height;
    this.view.lost.hidden = !places.length || places.some(inView);
    this.view.canvas.dataset.nodes = JSON.stringify(Object.fromEntries(places));
    this.view.canvas.dataset.middles = JSON.stringify(middles);
    this.view.canvas.dataset.edges = JSON.stringify(this.edges);
  }
}
