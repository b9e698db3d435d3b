// Questions about an edge list. Edges are [cause, effect] pairs of column names.

/** The shortest way from one column to another along the arrows, or null. */
export function findPath(edges, from, to) {
  const effects = new Map();
  for (const [cause, effect] of edges) {
    if (!effects.has(cause)) effects.set(cause, []);
    effects.get(cause).push(effect);
  }
  const before = new Map([[from, null]]);
  const queue = [from];
  for (const here of queue) {
    if (here === to) break;
    for (const effect of effects.get(here) ?? []) {
      if (before.has(effect)) continue;
      before.set(effect, here);
      queue.push(effect);
    }
  }
  if (!before.has(to)) return null;
  const path = [];
  for (let here = to; here !== null; here = before.get(here)) path.unshift(here);
  return path;
}

/** The cycle an edge would close, first column repeated at the end, or null. */
export function cycleThrough(edges, from, to) {
  const back = findPath(edges, to, from);
  return back && [from, ...back];
}

export const sameEdge = (a, b) => a[0] === b[0] && a[1] === b[1];

/** Column of each node in a left-to-right drawing: causes always stand left of their effects. */
export function assignLayers(ids, edges) {
  const layer = new Map();
  const waiting = new Map(ids.map((id) => [id, 0]));
  edges.forEach(([, to]) => waiting.set(to, waiting.get(to) + 1));
  const order = ids.filter((id) => waiting.get(id) === 0);
  for (const id of order) {
    const causes = edges.filter(([, to]) => to === id).map(([from]) => layer.get(from) ?? 0);
    layer.set(id, causes.length ? Math.max(...causes) + 1 : 0);
    for (const [from, to] of edges) {
      if (from !== id) continue;
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) order.push(to);
    }
  }
  // A graph with a cycle should never arrive; if it does, it is still shown.
  ids.filter((id) => !layer.has(id)).forEach((id) => layer.set(id, 0));
  // Bring a cause up to its nearest effect: it shortens the arrows.
  for (const id of [...order].reverse()) {
    const effects = edges.filter(([from]) => from === id).map(([, to]) => layer.get(to));
    const causes = edges.filter(([, to]) => to === id).length;
    if (effects.length > causes) layer.set(id, Math.max(layer.get(id), Math.min(...effects) - 1));
  }
  return layer;
}
