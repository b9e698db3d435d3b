// Where everything stands: which columns are shown, at which places, and how edges run between them.
// Nodes have ids of our own here; names are only for people.

import { plain, textWidth, wrap } from "./labels.js";
import { bounds, rows, spread, tidy } from "./layout.js";
import { createNetwork, recolourEdges } from "./network.js";
import { boxAt, concerned, crowded, middle, route } from "./routing.js";
import { nodeSize } from "./shapes.js";
import { Still } from "./still.js";
import { buildTooltip } from "./view.js";

const PADDING = 28;
const LARGEST_SCALE = 1.15;
const READABLE_SCALE = 0.75;

export class Stage {
  /** @param look id -> {role, inS, ringed}  @param theme () -> theme */
  constructor(canvas, { look, theme }) {
    Object.assign(this, { canvas, look, theme, still: new Still() });
    this.rebuild([]);
  }

  rebuild(names) {
    this.destroy();
    this.names = names;
    this.idOf = new Map(names.map((name, i) => [name, `n${i}`]));
    this.nameOf = new Map(names.map((name, i) => [`n${i}`, name]));
    this.lines = new Map(names.map((name, i) => [`n${i}`, wrap(name)]));
    this.tooltips = new Map();
    this.places = new Map();
    this.shown = new Set();
    this.edges = [];
    this.ways = new Map(); // of each edge, as `route` gives it
    this.routed = new Map(); // where nodes stood when the ways were found
    this.still.release();
    this.viewTouched = false;
    if (!names.length) return;
    this.measure();
    Object.assign(this, createNetwork(this.canvas, {
      look: (id) => ({ ...this.look(id), lines: this.lines.get(id) }),
      sizeOf: this.sizeOf,
      theme: this.theme,
      still: this.still,
    }));
  }

  destroy() {
    this.network?.destroy();
    this.network = null;
  }

  sizeOf = (id) => this.sizes.get(id);

  /** Sizes of all nodes from their text; true when that changed anything. */
  measure() {
    const before = this.sizes && JSON.stringify([...this.sizes]);
    this.sizes = new Map([...this.lines].map(([id, lines]) =>
      [id, nodeSize(textWidth(lines, this.theme()), lines.length)]));
    return before !== JSON.stringify([...this.sizes]);
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

  recolour() {
    recolourEdges(this.network, this.theme());
  }

  // ---- what is shown ---------------------------------------------------------------------------

  /** Show these columns and no others. They need places before the next drawing. */
  show(ids) {
    this.remember();
    const fresh = [...ids].filter((id) => !this.shown.has(id));
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
    this.edges = named
      .map((edge) => edge.map((name) => this.idOf.get(name)))
      .filter(([from, to]) => this.shown.has(from) && this.shown.has(to))
      .map(([from, to]) => ({ id: `${from}>${to}`, from, to }));
    const wanted = new Set(this.edges.map(({ id }) => id));
    const drawn = new Set(this.edgeSet.getIds());
    this.edgeSet.remove([...drawn].filter((id) => !wanted.has(id)));
    this.edgeSet.add(this.edges.filter(({ id }) => !drawn.has(id)));
    this.bend();
  }

  edgeId([from, to]) {
    return `${this.idOf.get(from)}>${this.idOf.get(to)}`;
  }

  /**
   * Lead edges around nodes; called whenever nodes or edges have changed.
   * @param moved ids when nothing else has changed: only edges near them are looked at
   */
  bend(moved = null) {
    const places = this.visiblePlaces();
    if (moved && crowded(this.edges, places)) return;
    const found = route(moved ? this.near(moved, places) : this.edges, places, this.sizeOf);
    const changed = [...found]
      .filter(([id, way]) => JSON.stringify(this.ways.get(id) ?? false) !== JSON.stringify(way))
      .map(([id, smooth]) => ({ id, smooth }));
    this.ways = moved ? new Map([...this.ways, ...found]) : found;
    this.routed = places;
    if (changed.length) this.edgeSet.update(changed);
  }

  /** Edges whose way may change where these nodes have left one place and stand at another. */
  near(moved, places) {
    const boxes = moved.flatMap((id) => [this.routed, places].filter((known) => known.has(id))
      .map((known) => boxAt(id, known.get(id), this.sizeOf)));
    return concerned(this.edges, places, boxes);
  }

  /** Where the middle of each drawn edge is. */
  middles() {
    const places = this.visiblePlaces();
    return this.edges.map(({ id, from, to }) => ({
      names: [from, to].map((end) => this.nameOf.get(end)),
      place: middle(places.get(from), places.get(to), this.ways.get(id)),
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
    this.bend();
  }

  tidy() {
    const edges = this.edges.map(({ from, to }) => [from, to]);
    this.place(tidy([...this.shown], edges, this.sizeOf, this.area()));
  }

  /** Places from a file have a unit of their own: stretch them until no two columns overlap. */
  spread(places) {
    const fitted = spread(places, this.sizeOf, this.area());
    if (fitted) this.place(fitted);
    return Boolean(fitted);
  }

  /** Columns without a place stand in rows beneath the rest. */
  placeNewcomers(ids) {
    const settled = new Map([...this.visiblePlaces()].filter(([id]) => !ids.includes(id)));
    if (!ids.length) return;
    const box = settled.size ? bounds(settled, this.sizeOf)
      : { left: 0, right: 600, bottom: -48 };
    const width = Math.max(box.right - box.left, 600);
    const placed = rows(ids, this.sizeOf, width, box.bottom + 48);
    this.place(new Map([...placed].map(([id, { x, y }]) => [id, { x: x + box.left, y }])));
  }

  // ---- the view --------------------------------------------------------------------------------

  fit() {
    if (!this.shown.size) return;
    const box = bounds(this.visiblePlaces(), this.sizeOf);
    const area = this.area();
    const scale = Math.min(LARGEST_SCALE, area.width / (box.right - box.left),
      area.height / (box.bottom - box.top));
    const position = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    this.network.moveTo({ position, scale, animation: false });
    this.viewTouched = false;
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
