// Finding columns by what is typed.

/** Names that fit the text, best first: equal, then beginning with it, then holding it. */
export function matches(names, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const rank = (name) => {
    if (name === text) return 0;
    const low = name.toLowerCase();
    if (low === wanted) return 1;
    if (low.startsWith(wanted)) return 2;
    return low.includes(wanted) ? 3 : 4;
  };
  return names.map((name) => [rank(name), name]).filter(([place]) => place < 4)
    .sort((a, b) => a[0] - b[0]).map(([, name]) => name);
}
