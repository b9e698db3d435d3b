// Shapes. A role shows in the outline as well as in the colour, so that it survives grey print.

import { labelFont, LINE_HEIGHT } from "./labels.js";

const SLANT = 11;

const hexagon = (ctx, x, y, w, h) => {
  polygon(ctx, [[x, y + h / 2], [x + SLANT, y], [x + w - SLANT, y], [x + w, y + h / 2],
    [x + w - SLANT, y + h], [x + SLANT, y + h]]);
};

const OUTLINES = {
  target: (ctx, x, y, w, h) => ctx.rect(x, y, w, h),
  parent: (ctx, x, y, w, h) => ctx.rect(x, y, w, h),
  child: (ctx, x, y, w, h) => ctx.roundRect(x, y, w, h, Math.min(h / 2, 20)),
  co_parent: hexagon,
  tied: hexagon,
  selected: (ctx, x, y, w, h) => {
    polygon(ctx, [[x + SLANT, y], [x + w, y], [x + w - SLANT, y + h], [x, y + h]]);
  },
  ancestor: (ctx, x, y, w, h) => {
    polygon(ctx, [[x + SLANT, y], [x + w - SLANT, y], [x + w, y + h], [x, y + h]]);
  },
  other: (ctx, x, y, w, h) => ctx.roundRect(x, y, w, h, 6),
  unmeasured: (ctx, x, y, w, h) => ctx.ellipse(x + w / 2, y + h / 2, w / 2, h / 2, 0, 0, 2 * Math.PI),
};

function polygon(ctx, points) {
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
}

/** Outline, fill and border of one role, centred on (x, y). Also draws the legend's swatches. */
export function drawShape(ctx, { role, inS }, box, theme) {
  const { x, y, w, h } = box;
  const outline = OUTLINES[role] ?? OUTLINES.other;
  const trace = (inset) => {
    ctx.beginPath();
    outline(ctx, x - w / 2 + inset, y - h / 2 + inset, w - 2 * inset, h - 2 * inset);
  };
  ctx.setLineDash([]);
  ctx.fillStyle = theme.fill(role);
  ctx.strokeStyle = theme.stroke(role);
  trace(0);
  ctx.fill();
  ctx.lineWidth = inS ? 4 : role === "target" ? 2 : 1.5;
  if (role === "unmeasured" || (role === "other" && !inS)) ctx.setLineDash([4, 3]);
  ctx.stroke();
  ctx.setLineDash([]);
  if (role === "target") {
    ctx.lineWidth = 1.5;
    trace(inS ? 5 : 4);
    ctx.stroke();
  }
}

/** A ring around a node that is selected or from which an edge is being drawn. */
export function drawRing(ctx, { x, y, w, h }, theme) {
  ctx.beginPath();
  ctx.roundRect(x - w / 2 - 6, y - h / 2 - 6, w + 12, h + 12, 10);
  ctx.setLineDash([]);
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.accent;
  ctx.stroke();
}

export function drawLabel(ctx, { role, inS, lines }, { x, y }, theme) {
  ctx.font = labelFont(theme, role === "target");
  ctx.fillStyle = role === "unmeasured" || (role === "other" && !inS) ? theme.faint : theme.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const top = y - ((lines.length - 1) * LINE_HEIGHT) / 2;
  lines.forEach((line, i) => ctx.fillText(line, x, top + i * LINE_HEIGHT + 1));
}

/** Size of a node from its text; the same for every role, so that a role switch moves nothing. */
export const nodeSize = (width, lines) => ({
  w: Math.ceil(Math.max(width, 44) + 2 * SLANT + 14),
  h: lines * LINE_HEIGHT + 14,
});
