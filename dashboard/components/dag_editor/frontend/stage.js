// What is shown: which columns, at which places, and how edges run between them.
// Nodes have ids of our own here; names are only for people.

import { Edges } from "./edges.js";
import { plain } from "./labels.js";
import { createNetwork } from "./network.js";
import { Still } from "./still.js";
import { buildTooltip } from "./view.js";

const PADDING = 28;
const LARGEST_SCALE = 1.15;
const READABLE_SCALE = 0.75;

export class Stage {
  /**
   * @param look id -> {role, inS, ringed}  @param theme () -> theme
   * @param edgeLook id of an edge -> {colour, width}
   */
  constructor(canvas, { look, theme, edgeLook }) {
    Object.assign(this, { canvas, look, theme, edgeLook, still: new Still() });
    this.rebuild([]);
  }

  rebuild(names) {
    this.destroy();
    this.names = names;
    this.idOf = new Map(names.map((name, i) => [name, `n${i}`]));
    this.nameOf = new Map(names.map((name, i) => [`n${i}`, name]));
    this.nodes = new Map(); // size and lines of each, from Python
    this.tooltips = new Map();
    this.places = new Map();
    this.shown = new Set();
    this.edges = new Edges((id) => this.network.getPosition(id), this.sizeOf);
    this.still.release();
    this.viewTouched = false;
    if (!names.length) return;
    Object.assign(this, createNetwork(this.canvas, {
      look: (id) => ({ ...this.look(id), lines: this.nodes.get(id).lines }),
      sizeOf: this.sizeOf,
      theme: this.theme,
      still: this.still,
      drawEdges: (ctx) => this.edges.draw(ctx, this.edgeLook),
    }));
  }

  destroy() {
    this.network?.destroy();
    this.network = null;
  }

  sizeOf = (id) => this.nodes.get(id);

  /** Take sizes of boxes and lines of names over. */
  measure(looks) {
    this.nodes = new Map([...looks].map(([name, { lines, size: [w, h] }]) =>
      [this.idOf.get(name), { lines, w, h }]));
  }

  /** Fill the tooltips: a column's whole name and a sentence about it. */
  describe(looks) {
    for (const id of this.shown) {
      const node = looks.get(this.nameOf.get(id));
      const tooltip = this.tooltips.get(id);
      tooltip.name.textContent = plain(node.name);
      tooltip.words.textContent = node.tooltip;
    }
  }

  // ---- what is shown ---------------------------------------------------------------------------

  /** Show these columns and no others. They need places before the next drawing. */
  show(ids) {
    this.remember();
    const fresh = [...ids].filter((id) => !this.shown.has(id));
    // First the edges: vis may draw at once, and an edge without an end has no place.
    this.edges.set(this.edges.drawn.filter(({ from, to }) => ids.has(from) && ids.has(to)));
    this.nodeSet.remove([...this.shown].filter((id) => !ids.has(id)));
    fresh.filter((id) => !this.tooltips.has(id))
      .forEach((id) => this.tooltips.set(id, buildTooltip()));
    this.nodeSet.add(fresh.map((id) => {
      const { x, y } = this.places.get(id) ?? { x: 0, y: 0 };
      return { id, x, y, title: this.tooltips.get(id).box };
    }));
    this.shown = new Set(ids);
    return fresh;
  }

  /** Draw those of the named edges whose ends are shown. */
  setEdges(named) {
    this.edges.set(named
      .map((edge) => edge.map((name) => this.idOf.get(name)))
      .filter(([from, to]) => this.shown.has(from) && this.shown.has(to))
      .map(([from, to]) => ({ id: `${from}>${to}`, from, to })));
    this.network.redraw();
  }

  edgeId([from, to]) {
    return `${this.idOf.get(from)}>${this.idOf.get(to)}`;
  }

  /** Take the ways of edges over; they belong to these places. */
  lead(ways, places) {
    const place = new Map(places.map(([name, x, y]) => [name, { x: Math.round(x), y: Math.round(y) }]));
    this.edges.take(ways.filter((way) => this.idOf.has(way[0]) && this.idOf.has(way[1]))
      .map(([cause, effect, line, head, x, y]) => ({
        id: this.edgeId([cause, effect]), from: place.get(cause), to: place.get(effect),
        line, head, middle: { x, y },
      })));
    this.network.redraw();
  }

  /** Where the middle is of each edge that Python has led round the boxes. */
  middles() {
    return this.edges.drawn.filter((edge) => this.edges.led(edge)).map((edge) => ({
      names: [edge.from, edge.to].map((end) => this.nameOf.get(end)),
      place: this.edges.led(edge).middle,
    }));
  }

  // ---- places ----------------------------------------------------------------------------------

  area() {
    const { clientWidth, clientHeight } = this.canvas;
    return {
      width: (clientWidth || 900) - 2 * PADDING,
      height: (clientHeight || 560) - 2 * PADDING,
    };
  }

  /** Take over where vis-network has the shown nodes. */
  remember() {
    for (const [id, place] of Object.entries(this.network.getPositions())) {
      this.places.set(id, place);
    }
  }

  visiblePlaces() {
    return new Map(Object.entries(this.network.getPositions()));
  }

  place(places) {
    for (const [id, { x, y }] of places) this.places.set(id, { x, y });
    // In one go: moveNode would draw everything again for each node.
    this.nodeSet.update([...places].filter(([id]) => this.shown.has(id))
      .map(([id, { x, y }]) => ({ id, x: Math.round(x), y: Math.round(y) })));
  }

  /** A column that comes in stands beneath the rest, until Python has placed it. */
  placeBeneath(id) {
    const others = new Map(this.visiblePlaces());
    others.delete(id);
    const box = this.bounds(others);
    const { w, h } = this.sizeOf(id);
    this.place(new Map([[id, others.size ? { x: box.left + w / 2, y: box.bottom + 46 + h / 2 }
      : { x: 0, y: 0 }]]));
  }

  // ---- the view --------------------------------------------------------------------------------

  fit() {
    if (!this.shown.size) return;
    const box = this.bounds();
    const area = this.area();
    const scale = Math.min(LARGEST_SCALE, area.width / (box.right - box.left),
      area.height / (box.bottom - box.top));
    const position = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    this.network.moveTo({ position, scale, animation: false });
    this.viewTouched = false;
  }

  bounds(places = this.visiblePlaces()) {
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const [id, { x, y }] of places) {
      const { w, h } = this.sizeOf(id);
      box.left = Math.min(box.left, x - w / 2);
      box.right = Math.max(box.right, x + w / 2);
      box.top = Math.min(box.top, y - h / 2);
      box.bottom = Math.max(box.bottom, y + h / 2);
    }
    return box;
  }

  zoom(factor) {
    this.network.moveTo({ scale: this.network.getScale() * factor, animation: false });
    this.viewTouched = true;
  }

  /** Bring a column to the middle, large enough to be read. */
  centre(id) {
    const scale = Math.max(this.network.getScale(), READABLE_SCALE);
    this.network.moveTo({ position: this.network.getPosition(id), scale, animation: false });
    this.viewTouched = true;
  }

  /** Move the view only if the column is outside of it. */
  reveal(id) {
    const { x, y } = this.network.canvasToDOM(this.network.getPosition(id));
    const { clientWidth, clientHeight } = this.canvas;
    if (x > 20 && y > 20 && x < clientWidth - 20 && y < clientHeight - 20) return;
    this.network.moveTo({ position: this.network.getPosition(id), animation: false });
    this.viewTouched = true;
  }
}
