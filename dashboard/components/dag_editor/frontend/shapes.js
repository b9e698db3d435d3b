// Shapes. A role shows in the outline as well as in the colour, so that it survives grey print.

import { labelFont, LINE_HEIGHT } from "./labels.js";

const PADDING = 10;

/** Trace an outline as Python describes it: an ellipse, corners, or a rectangle with round ones. */
function outline(ctx, { corners, radius, ellipse }, x, y, w, h) {
  ctx.beginPath();
  if (ellipse) {
    ctx.ellipse(x, y, w / 2, h / 2, 0, 0, 2 * Math.PI);
    return;
  }
  if (!corners.length) {
    ctx.roundRect(x - w / 2, y - h / 2, w, h, Math.min(radius, w / 2, h / 2));
    return;
  }
  corners.forEach(([side, inset, level], i) => {
    const point = [x + side * (w / 2 - inset), y + (level * h) / 2];
    if (i) ctx.lineTo(...point);
    else ctx.moveTo(...point);
  });
  ctx.closePath();
}

/** Outline, fill and border of one role, centred on (x, y). Also draws the legend's swatches. */
export function drawShape(ctx, { role, inS }, box, theme) {
  const { x, y, w, h } = box;
  const look = theme.looks[role];
  const trace = (inset) => outline(ctx, look, x, y, w - 2 * inset, h - 2 * inset);
  ctx.setLineDash([]);
  ctx.fillStyle = theme.fill(role);
  ctx.strokeStyle = theme.stroke(role);
  trace(0);
  ctx.fill();
  ctx.lineWidth = inS ? 4 : look.double ? 2 : 1.5;
  if (look.dashed && !inS) ctx.setLineDash([4, 3]);
  ctx.stroke();
  ctx.setLineDash([]);
  if (look.double) {
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

export function drawLabel(ctx, { role, inS, lines }, { x, y, w }, theme) {
  ctx.font = labelFont(theme, role === "target");
  ctx.fillStyle = theme.looks[role].dashed && !inS ? theme.faint : theme.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const top = y - ((lines.length - 1) * LINE_HEIGHT) / 2;
  lines.forEach((line, i) => ctx.fillText(line, x, top + i * LINE_HEIGHT + 1, w - PADDING));
}
