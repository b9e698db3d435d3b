// What may be done to the edges, and what to say about it. Each answer is {edges, words} or, when
// nothing changes, {words, refused}.

import { cycleThrough, sameEdge } from "./graph.js";
import { plain } from "./labels.js";

/** Column names joined by arrows: A → B → C. */
export const arrow = (names) => names.map(plain).join(" → ");

const refuse = (words) => ({ words, refused: true });

export function add(edges, from, to) {
  const words = arrow([from, to]);
  if (from === to) return refuse(`${words}: a column cannot cause itself; the edge was not added.`);
  const there = edges.some((edge) => sameEdge(edge, [from, to]));
  if (there) return { words: `${words} is already there.` };
  const cycle = cycleThrough(edges, from, to);
  if (cycle) return refuse(`${arrow(cycle)} would be a cycle; the edge was not added.`);
  return { edges: [...edges, [from, to]], words: `${words} was added.` };
}

export function remove(edges, edge) {
  if (!edge) return { words: "Click an edge first, then delete it." };
  return { edges: edges.filter((other) => other !== edge), words: `${arrow(edge)} was deleted.` };
}

export function reverse(edges, edge) {
  if (!edge) return { words: "Click an edge first, then reverse it." };
  const [from, to] = edge;
  const cycle = cycleThrough(edges.filter((other) => other !== edge), to, from);
  if (cycle) return refuse(`${arrow(cycle)} would be a cycle; the edge was not reversed.`);
  return {
    edges: edges.map((other) => (other === edge ? [to, from] : other)),
    words: `The edge now reads ${arrow([to, from])}.`,
  };
}
