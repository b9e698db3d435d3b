// What the keys do while the drawing has the focus.

/** For the list of keys beneath the drawing. */
export const KEYS = [
  ["Arrow keys", "go to the next column in that direction"],
  ["Enter", "start an edge at this column; Enter again at its effect draws it"],
  ["E", "go through the edges of this column"],
  ["Delete", "delete the edge"],
  ["R", "reverse the edge"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ["Shift+arrow keys", "move the column"],
  ["/", "find a column"],
  ["T", "tidy the layout"],
  ["F", "fit everything into view"],
  ["+ and -", "zoom"],
  ["Escape", "stop drawing"],
];

const STEP = 20;
const WAYS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** Do what a key asks for; false when the key is none of ours. */
export function onKey(event, editor) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) return history(key, event.shiftKey, editor);
  if (event.altKey) return false;
  if (WAYS[key]) {
    if (event.shiftKey) editor.nudge(WAYS[key].x * STEP, WAYS[key].y * STEP);
    else editor.walk(WAYS[key]);
    return true;
  }
  const plain = {
    Delete: () => editor.deleteSelected(),
    Backspace: () => editor.deleteSelected(),
    Escape: () => editor.stop(),
    Enter: () => editor.drawFromHere(),
    e: () => editor.nextEdge(),
    r: () => editor.reverseSelected(),
    t: () => editor.tidyUp(),
    f: () => editor.fit(),
    "+": () => editor.zoom(1.25),
    "-": () => editor.zoom(0.8),
    "/": () => editor.view.search.focus(),
  }[key];
  plain?.();
  return Boolean(plain);
}

function history(key, shift, editor) {
  if (key === "z") editor.ask(shift ? "redo" : "undo");
  else if (key === "y") editor.ask("redo");
  else return false;
  return true;
}

/**
 * The nearest node in a direction: sideways distance counts twice, so that rows and columns of
 * nodes are walked along. Undefined when there is none.
 */
export function neighbour(places, here, way) {
  const from = places.get(here);
  let best = { cost: Infinity };
  for (const [id, { x, y }] of places) {
    const [dx, dy] = [x - from.x, y - from.y];
    const ahead = dx * way.x + dy * way.y;
    const aside = Math.abs(dx * way.y) + Math.abs(dy * way.x);
    if (id === here || ahead <= 1 || aside > ahead * 3) continue;
    const cost = ahead + 2 * aside;
    if (cost < best.cost) best = { id, cost };
  }
  return best.id;
}
