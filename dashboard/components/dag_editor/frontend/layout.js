// A tidy layout without randomness: causes left of effects, or above them where that lets the text
// be larger. Columns of the table that no edge touches stand in rows beneath.
//
// The code below lays out from left to right. For a drawing from top to bottom the nodes' widths
// and heights are swapped first and x and y last.

import { assignLayers } from "./graph.js";

const GAP_Y = 24;
const MARGIN = 12;
const ATTEMPTS = 24;
const MOST_SPREAD = 5;

// `gap` is between layers, `spacer` how finely a short layer can slide.
const AXES = [
  { down: false, gap: 64, spacer: 24, turn: (size) => size },
  { down: true, gap: 40, spacer: 60, turn: ({ w, h }) => ({ w: h, h: w }) },
];

/**
 * Place every node.
 * @param ids node ids in table order
 * @param edges [from, to] pairs of ids
 * @param sizeOf id -> {w, h}
 * @param area {width, height} of the drawing; decides how tall columns get
 * @returns Map of id -> {x, y}
 */
export function tidy(ids, edges, sizeOf, area) {
  const touched = new Set(edges.flat());
  const linked = ids.filter((id) => touched.has(id));
  const loose = ids.filter((id) => !touched.has(id));
  if (!linked.length) return rows(loose, sizeOf, bestRowWidth(loose, sizeOf, area), 0);
  const plans = AXES.map((axes) => bestPlan(linked, edges, sizeOf, loose, area, axes));
  // Left to right reads better: top to bottom has to gain something.
  const plan = plans[1].scale > plans[0].scale * 1.1 ? plans[1] : plans[0];
  const { axes } = plan;
  const placed = untangle(plan, edges);
  if (axes.down) for (const [id, { x, y }] of placed) placed.set(id, { x: y, y: x });
  const box = bounds(placed, sizeOf);
  const beneath = rows(loose, sizeOf, plan.rowWidth, box.bottom + 2 * GAP_Y);
  const rowsBox = bounds(beneath, sizeOf);
  const shift = (box.left + box.right - rowsBox.left - rowsBox.right) / 2;
  for (const [id, { x, y }] of beneath) placed.set(id, { x: x + shift, y });
  return placed;
}

/** Rows of nodes from (0, top) down, none wider than `width`, in cells of one size. */
export function rows(ids, sizeOf, width, top) {
  const places = new Map();
  if (!ids.length) return places;
  const cell = Math.max(...ids.map((id) => sizeOf(id).w)) + GAP_Y;
  const perRow = Math.max(1, Math.floor((width + GAP_Y) / cell));
  let y = top;
  for (let start = 0; start < ids.length; start += perRow) {
    const row = ids.slice(start, start + perRow);
    const height = Math.max(...row.map((id) => sizeOf(id).h));
    row.forEach((id, i) => places.set(id, { x: (i + 0.5) * cell - GAP_Y / 2, y: y + height / 2 }));
    y += height + GAP_Y;
  }
  return places;
}

export function bounds(places, sizeOf) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (const [id, { x, y }] of places) {
    const { w, h } = sizeOf(id);
    box.left = Math.min(box.left, x - w / 2);
    box.right = Math.max(box.right, x + w / 2);
    box.top = Math.min(box.top, y - h / 2);
    box.bottom = Math.max(box.bottom, y + h / 2);
  }
  return box;
}

/**
 * Stretch places of any unit evenly until no two nodes overlap.
 * @returns Map of id -> {x, y}, or null where some stand too close for that
 */
export function spread(places, sizeOf, area) {
  const xs = [...places.values()].map(({ x }) => x);
  const ys = [...places.values()].map(({ y }) => y);
  const [wide, high] = [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
  if (!(wide > 0 || high > 0)) return places.size === 1 ? places : null;
  const start = Math.min(wide ? area.width / wide : Infinity, high ? area.height / high : Infinity);
  let needed = start;
  const all = [...places].map(([id, place]) => ({ ...place, ...sizeOf(id) }));
  all.forEach((a, i) => all.slice(i + 1).forEach((b) => {
    const [dx, dy] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
    const apart = Math.min(dx ? ((a.w + b.w) / 2 + MARGIN) / dx : Infinity,
      dy ? ((a.h + b.h) / 2 + MARGIN) / dy : Infinity);
    needed = Math.max(needed, apart);
  }));
  if (needed > start * MOST_SPREAD) return null;
  return new Map([...places].map(([id, { x, y }]) => [id, { x: x * needed, y: y * needed }]));
}

const fitScale = (width, height, area) => Math.min(area.width / width, area.height / height);

function bestRowWidth(ids, sizeOf, area) {
  const cell = Math.max(0, ...ids.map((id) => sizeOf(id).w)) + GAP_Y;
  let best = { scale: 0, width: cell };
  for (let perRow = 1; perRow <= ids.length; perRow += 1) {
    const width = perRow * cell;
    const box = bounds(rows(ids, sizeOf, width, 0), sizeOf);
    const scale = fitScale(box.right - box.left, box.bottom - box.top, area);
    if (scale > best.scale) best = { scale, width };
  }
  return best.width;
}

/** Split layers into columns of at most `most` nodes, with the `most` that shows text largest. */
function bestPlan(linked, edges, sizeOf, loose, area, axes) {
  const turned = (id) => axes.turn(sizeOf(id));
  const layer = assignLayers(linked, edges);
  const layers = [];
  linked.forEach((id) => (layers[layer.get(id)] ??= []).push(id));
  const full = layers.filter(Boolean);
  let best = { scale: 0 };
  for (let most = 2; most <= Math.max(2, ...full.map((ids) => ids.length)); most += 1) {
    const columns = full.flatMap((ids) => split(ids, most));
    const along = columns.map((ids) => columnWidth(ids, turned) + axes.gap)
      .reduce((sum, width) => sum + width, -axes.gap);
    const across = Math.max(...columns.map((ids) => stackHeight(ids, turned, axes))) - GAP_Y;
    const [width, linkedHeight] = axes.down ? [across, along] : [along, across];
    // Rows may be as wide as the drawing will be anyway.
    const rowWidth = Math.max(width, (linkedHeight * area.width) / area.height, 300);
    const looseBox = bounds(rows(loose, sizeOf, rowWidth, 0), sizeOf);
    const looseHeight = loose.length ? looseBox.bottom + 2 * GAP_Y : 0;
    // The little bonus keeps a layer in one column unless splitting it really pays.
    const scale = fitScale(width, linkedHeight + looseHeight, area) * (1 + most / 50);
    // What the other dimension leaves free may be used to keep arrows off nodes.
    const room = axes.down
      ? rowWidth
      : ((width * area.height) / area.width - looseHeight) * 0.85;
    if (scale > best.scale) best = { scale, columns, axes, sizeOf: turned, rowWidth, room };
  }
  return best;
}

function split(ids, most) {
  const parts = Math.ceil(ids.length / most);
  const size = Math.ceil(ids.length / parts);
  return Array.from({ length: parts }, (_, i) => ids.slice(i * size, (i + 1) * size));
}

const columnWidth = (ids, sizeOf) => Math.max(...ids.map((id) => sizeOf(id).w));
const slotHeight = (id, sizeOf, axes) => (id === null ? axes.spacer : sizeOf(id).h + GAP_Y);
const stackHeight = (ids, sizeOf, axes) =>
  ids.reduce((sum, id) => sum + slotHeight(id, sizeOf, axes), 0);

/** Order each column so that few arrows cross and few run behind a node. */
function untangle({ columns, sizeOf, axes, room }, edges) {
  const tallest = Math.max(room, ...columns.map((ids) => stackHeight(ids, sizeOf, axes)));
  const slots = columns.map((ids) => padded(ids, tallest, sizeOf, axes));
  const xs = [];
  let left = 0;
  for (const ids of columns) {
    const width = columnWidth(ids, sizeOf);
    xs.push(left + width / 2);
    left += width + axes.gap;
  }
  // Moved in place: the cost function below holds on to these points.
  const places = new Map(columns.flat().map((id) => [id, { x: 0, y: 0 }]));
  const stack = (i) => {
    let y = -stackHeight(slots[i], sizeOf, axes) / 2;
    for (const id of slots[i]) {
      const height = slotHeight(id, sizeOf, axes);
      if (id !== null) Object.assign(places.get(id), { x: xs[i], y: y + height / 2 });
      y += height;
    }
  };
  slots.forEach((_, i) => stack(i));
  sweep(slots, edges, places, stack);
  // A change is judged on the whole drawing, so a big graph gets fewer rounds.
  const work = edges.length * (places.size + edges.length);
  if (work >= 12000) return places;
  const cost = costOf(edges, places, sizeOf);
  const settle = (most) => {
    for (let round = 0; round < most && improveRound(slots, cost, stack); round += 1);
  };
  if (work < 2000) escape(slots, cost, stack, () => settle(6));
  else settle(2);
  return places;
}

// Spacers (null) let a short column slide and open up between its nodes.
function padded(ids, tallest, sizeOf, axes) {
  const spare = Math.floor((tallest - stackHeight(ids, sizeOf, axes)) / axes.spacer);
  const count = Math.min(10, Math.max(0, spare) + 1);
  const above = Math.floor(count / 2);
  return [...Array(above).fill(null), ...ids, ...Array(count - above).fill(null)];
}

/** Barycentre ordering, left to right and back. */
function sweep(slots, edges, places, stack) {
  const neighbours = new Map([...places.keys()].map((id) => [id, []]));
  for (const [from, to] of edges) {
    neighbours.get(from).push(to);
    neighbours.get(to).push(from);
  }
  const there = slots.map((_, i) => i);
  for (const i of [...there, ...[...there].reverse(), ...there]) {
    const mean = (id) => {
      const near = neighbours.get(id).filter((other) => !slots[i].includes(other));
      if (!near.length) return places.get(id).y;
      return near.reduce((sum, other) => sum + places.get(other).y, 0) / near.length;
    };
    const sorted = slots[i].filter((id) => id !== null).map((id) => [mean(id), id]);
    sorted.sort((a, b) => a[0] - b[0]);
    let next = 0;
    slots[i] = slots[i].map((id) => (id === null ? null : sorted[next++][1]));
    stack(i);
  }
}

/** Settle, disturb two columns, settle again; keep the best. Always the same disturbances. */
function escape(slots, cost, stack, settle) {
  settle();
  let best = { cost: cost(), slots: [...slots] };
  let seed = 1;
  const next = (below) => {
    seed = (seed * 16807) % 2147483647;
    return seed % below;
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    for (let k = 0; k < 2; k += 1) {
      const i = next(slots.length);
      const by = next(slots[i].length);
      slots[i] = [...slots[i].slice(by), ...slots[i].slice(0, by)];
      stack(i);
    }
    settle();
    if (cost() < best.cost) best = { cost: cost(), slots: [...slots] };
    best.slots.forEach((order, i) => {
      slots[i] = order;
      stack(i);
    });
  }
}

/** Try every swap and every move within a column; keep what lowers the cost. */
function improveRound(slots, cost, stack) {
  let best = cost();
  let improved = false;
  slots.forEach((_, i) => {
    const attempt = (order) => {
      const before = slots[i];
      slots[i] = order;
      stack(i);
      const now = cost();
      if (now < best - 1e-6) {
        best = now;
        improved = true;
      } else {
        slots[i] = before;
        stack(i);
      }
    };
    for (let a = 0; a < slots[i].length; a += 1) {
      for (let b = 0; b < slots[i].length; b += 1) {
        if (slots[i][a] === slots[i][b]) continue;
        if (a < b) attempt(slots[i].with(a, slots[i][b]).with(b, slots[i][a]));
        attempt(slots[i].toSpliced(a, 1).toSpliced(b, 0, slots[i][a]));
      }
    }
  });
  return improved;
}

/**
 * What makes a drawing hard to read, as one number: the smaller, the better.
 * Columns have their x by now and every edge runs from a smaller x to a larger one, so which node
 * can stand in the way of which edge, and which edges can cross, is settled once.
 */
function costOf(edges, places, sizeOf) {
  const lines = edges.map(([from, to]) => ({ from, to, a: places.get(from), b: places.get(to) }));
  const obstacles = lines.flatMap((line) => [...places]
    .filter(([id]) => id !== line.from && id !== line.to)
    .map(([id, place]) => obstacle(line, place, sizeOf(id)))
    .filter(({ from, to }) => from < to));
  const pairs = lines.flatMap((p, i) => lines.slice(i + 1)
    .filter((q) => p.from !== q.from && p.to !== q.to)
    .map((q) => ({ p, q, from: Math.max(p.a.x, q.a.x), to: Math.min(p.b.x, q.b.x) }))
    .filter(({ from, to }) => from < to));
  return () => {
    let cost = 0;
    for (const { a, b } of lines) cost += Math.abs(a.y - b.y) * 0.04;
    for (const one of obstacles) if (runsBehind(one)) cost += 150;
    for (const pair of pairs) if (cross(pair)) cost += 20;
    return cost;
  };
}

const yAt = ({ a, b }, x) => a.y + ((x - a.x) * (b.y - a.y)) / (b.x - a.x);

const obstacle = (line, place, { w, h }) => ({
  line,
  place,
  reach: h / 2 + 4,
  from: Math.max(line.a.x, place.x - w / 2 - MARGIN),
  to: Math.min(line.b.x, place.x + w / 2 + MARGIN),
});

function runsBehind({ line, place, reach, from, to }) {
  const [y1, y2] = [yAt(line, from) - place.y, yAt(line, to) - place.y];
  return Math.min(y1, y2) < reach && Math.max(y1, y2) > -reach;
}

const cross = ({ p, q, from, to }) =>
  (yAt(p, from) - yAt(q, from)) * (yAt(p, to) - yAt(q, to)) < 0;
