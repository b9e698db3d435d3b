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
