// Edges: drawn along the ways that Python found, straight where there is none (yet), and found under
// the pointer.

const REACH = 7; // pixels from a line at which a click still means it
const HEAD = { length: 9, half: 4 }; // as in prism_core/structure/routing/strips.py

const probe = document.createElement("canvas").getContext("2d");

export class Edges {
  /** @param placeOf id -> {x, y}  @param sizeOf id -> {w, h} */
  constructor(placeOf, sizeOf) {
    Object.assign(this, { placeOf, sizeOf, drawn: [], ways: new Map() });
  }

  /** @param drawn [{id, from, to}] with the ids of nodes */
  set(drawn) {
    this.drawn = drawn;
  }

  /**
   * Take ways over. Each counts while its ends stand where they stood.
   * @param ways [{id, from, to, line, head, middle}] with the places of both ends
   */
  take(ways) {
    this.ways = new Map(ways.map((way) =>
      [way.id, { ...way, line: new Path2D(way.line), head: new Path2D(way.head) }]));
  }

  /** How an edge runs now: {line, head, middle}. */
  way(edge) {
    return this.led(edge) ?? this.straight(edge);
  }

  /** The way that Python found, while both ends stand where they stood for it. */
  led({ id, from, to }) {
    const known = this.ways.get(id);
    const stands = known && same(known.from, this.placeOf(from)) && same(known.to, this.placeOf(to));
    return stands ? known : undefined;
  }

  straight({ from, to }) {
    const [a, b] = [this.placeOf(from), this.placeOf(to)];
    const start = border(a, b, this.sizeOf(from));
    const end = border(b, a, this.sizeOf(to));
    const line = new Path2D();
    line.moveTo(start.x, start.y);
    line.lineTo(end.x, end.y);
    const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
    const [dx, dy] = [(end.x - start.x) / length, (end.y - start.y) / length];
    const [x, y] = [end.x - HEAD.length * dx, end.y - HEAD.length * dy];
    const head = new Path2D();
    head.moveTo(end.x, end.y);
    head.lineTo(x + HEAD.half * dy, y - HEAD.half * dx);
    head.lineTo(x - HEAD.half * dy, y + HEAD.half * dx);
    head.closePath();
    return { line, head, middle: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 } };
  }

  /** Draw all edges. @param lookOf id of an edge -> {colour, width} */
  draw(ctx, lookOf) {
    ctx.setLineDash([]);
    for (const edge of this.drawn) {
      const { line, head } = this.way(edge);
      const { colour, width } = lookOf(edge.id);
      ctx.lineWidth = width;
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.stroke(line);
      ctx.fill(head);
    }
  }

  /** The id of the edge at a place, or undefined. `scale` is pixels a unit. */
  at({ x, y }, scale) {
    probe.lineWidth = (2 * REACH) / scale;
    return this.drawn.findLast((edge) => probe.isPointInStroke(this.way(edge).line, x, y))?.id;
  }
}

const same = (a, b) => Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1;

/** Where the line from the middle of a box towards a place leaves the box. */
function border(from, to, { w, h }) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const share = Math.min(dx ? w / 2 / Math.abs(dx) : 0.5, dy ? h / 2 / Math.abs(dy) : 0.5, 0.5);
  return { x: from.x + share * dx, y: from.y + share * dy };
}
