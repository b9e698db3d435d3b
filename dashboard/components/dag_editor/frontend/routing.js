// Bends an edge around the nodes that its straight line would run behind.

const MARGIN = 5;
const SAMPLES = 16;
const MOST_WORK = 400_000;
const WAYS = [0.1, 0.18, 0.28, 0.4, 0.55].flatMap((roundness) =>
  ["curvedCW", "curvedCCW"].map((type) => ({ enabled: true, type, roundness })));

/**
 * How each edge is to be drawn: false for a straight line, else vis-network's `smooth`.
 * @param edges [{id, from, to}] with the ids of nodes
 * @param places Map of id -> {x, y}
 * @param sizeOf id -> {w, h}
 */
export function route(edges, places, sizeOf) {
  const bends = new Map(edges.map(({ id }) => [id, false]));
  if (crowded(edges, places)) return bends;
  const boxes = [...places].map(([id, place]) => boxAt(id, place, sizeOf));
  for (const { id, from, to } of edges) {
    const [a, b] = [places.get(from), places.get(to)];
    const others = boxes.filter((box) => box.id !== from && box.id !== to);
    if (others.some((box) => crosses(a, b, box))) bends.set(id, bestWay(a, b, others));
  }
  return bends;
}

/** Whether lines are so many that nobody follows one of them by eye. */
export const crowded = (edges, places) => edges.length * places.size > MOST_WORK;

/** What a node takes up where it stands, with a margin. */
export function boxAt(id, { x, y }, sizeOf) {
  const { w, h } = sizeOf(id);
  const [a, b] = [w / 2 + MARGIN, h / 2 + MARGIN];
  return { id, left: x - a, right: x + a, top: y - b, bottom: y + b };
}

/** Those of the edges whose way may depend on what stands in one of these boxes. */
export const concerned = (edges, places, boxes) => edges.filter(({ from, to }) =>
  nearby(places.get(from), places.get(to), boxes).length > 0);

/** Boxes that a line from a to b could meet, however it is bent. */
function nearby(a, b, boxes) {
  const reach = Math.hypot(a.x - b.x, a.y - b.y) / 2;
  return boxes.filter((box) =>
    box.right > Math.min(a.x, b.x) - reach && box.left < Math.max(a.x, b.x) + reach
    && box.bottom > Math.min(a.y, b.y) - reach && box.top < Math.max(a.y, b.y) + reach);
}

/** The least bend that runs behind the fewest nodes. */
function bestWay(a, b, boxes) {
  const near = nearby(a, b, boxes);
  let best = { way: false, hits: near.filter((box) => crosses(a, b, box)).length };
  for (const way of WAYS) {
    const points = curve(a, b, way);
    const hits = near.filter((box) => points.some((p) =>
      p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom)).length;
    if (hits < best.hits) best = { way, hits };
    if (hits === 0) break;
  }
  return best.way;
}

/** The middle of an edge, bent or straight. */
export const middle = (a, b, way) =>
  (way ? curve(a, b, way)[SAMPLES / 2 - 1] : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

/** Points of the quadratic curve that vis-network draws for `curvedCW` and `curvedCCW`. */
function curve(a, b, { type, roundness }) {
  const [dx, dy] = [b.x - a.x, a.y - b.y];
  const share = 0.5 * roundness + 0.5;
  const turn = type === "curvedCW" ? share : 0.5 - 0.5 * roundness;
  const angle = Math.atan2(dy, dx) + turn * Math.PI;
  const length = share * Math.hypot(dx, dy);
  const via = { x: a.x + length * Math.sin(angle), y: a.y + length * Math.cos(angle) };
  return Array.from({ length: SAMPLES - 1 }, (_, i) => {
    const t = (i + 1) / SAMPLES;
    const [p, q, r] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    return { x: p * a.x + q * via.x + r * b.x, y: p * a.y + q * via.y + r * b.y };
  });
}

/** Whether the segment from a to b meets the box: clip it by the box's four sides. */
function crosses(a, b, { left, right, top, bottom }) {
  let [start, end] = [0, 1];
  const slabs = [[a.x, b.x - a.x, left, right], [a.y, b.y - a.y, top, bottom]];
  for (const [from, by, low, high] of slabs) {
    if (by === 0) {
      if (from < low || from > high) return false;
      continue;
    }
    const [one, two] = [(low - from) / by, (high - from) / by];
    start = Math.max(start, Math.min(one, two));
    end = Math.min(end, Math.max(one, two));
    if (start > end) return false;
  }
  return true;
}
