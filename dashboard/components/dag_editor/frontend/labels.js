// Labels: a column name of any length and content as a few short lines of plain text.

export const LINE_HEIGHT = 20;
const FONT_SIZE = 16;
const PER_LINE = 17;
const MAX_LINES = 4;

const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;
const letters = (text) =>
  segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : Array.from(text);

// Line breaks would tear a label; direction marks could make one column look like another.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One-line text for a name: what a message or a tooltip shows. */
export const plain = (name) => name.replace(UNPRINTABLE, "\ufffd") || "(no name)";

/** Break a name after _ - . / and spaces where it can, anywhere where it must. */
export function wrap(name) {
  const lines = [""];
  let used = 0;
  for (const word of plain(name).split(/(?<=[_\-./\s])/u)) {
    let rest = letters(word);
    if (used > 0 && used + rest.length > PER_LINE) [used] = [0, lines.push("")];
    while (rest.length > PER_LINE) {
      lines[lines.length - 1] += rest.slice(0, PER_LINE).join("");
      rest = rest.slice(PER_LINE);
      lines.push("");
    }
    lines[lines.length - 1] += rest.join("");
    used += rest.length;
  }
  if (lines.length <= MAX_LINES) return lines;
  // Long names of one table differ more often at their end than in their middle.
  return [...lines.slice(0, MAX_LINES - 2), "…", lines[lines.length - 1]];
}

export const labelFont = (theme, bold) => `${bold ? "700" : "400"} ${FONT_SIZE}px ${theme.font}`;

const ruler = document.createElement("canvas").getContext("2d");

/** Width in canvas pixels of the widest line, measured bold so that a role never changes a size. */
export function textWidth(lines, theme) {
  ruler.font = labelFont(theme, true);
  return Math.max(...lines.map((line) => ruler.measureText(line).width));
}
