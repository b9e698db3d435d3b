// The one file that talks to vis-network. It draws and moves nodes; edges are ours.

import { drawLabel, drawRing, drawShape } from "./shapes.js";

// What is outside S steps back; its name stays readable.
const FADED_SHAPE = 0.35;
const FADED_LABEL = 0.72;

/**
 * An empty network whose nodes will be painted by us.
 * @param painter {look(id) -> {role, inS, lines, ringed}, sizeOf(id) -> {w, h}, theme(), still, drawEdges(ctx)}
 */
export function createNetwork(container, painter) {
  const { DataSet, Network } = globalThis.vis;
  const nodes = new DataSet([]);
  const network = new Network(container, { nodes, edges: new DataSet([]) }, {
    physics: false,
    layout: { improvedLayout: false, randomSeed: 1 },
    manipulation: { enabled: false },
    interaction: { hover: true, selectConnectedEdges: false, tooltipDelay: 250, zoomSpeed: 0.6 },
    nodes: { shape: "custom", ctxRenderer: paint(painter), borderWidth: 3, chosen: false },
  });
  painter.drawAll = (ctx, moving) => {
    const selected = new Set(network.getSelectedNodes());
    for (const [id, place] of Object.entries(network.getPositions())) {
      if (!moving.has(id)) drawNodeAt(painter, ctx, id, place, selected.has(id));
    }
  };
  network.on("beforeDrawing", (ctx) => {
    painter.still.begin();
    painter.drawEdges(ctx);
  });
  return { network, nodeSet: nodes };
}

const paint = (painter) => ({ ctx, id, x, y, state }) => {
  const { w, h } = painter.sizeOf(id);
  const draw = (context) => drawNodeAt(painter, context, id, { x, y }, state.selected);
  const drawNode = () => painter.still.draw(ctx, id, draw, painter.drawAll);
  return { drawNode, nodeDimensions: { width: w, height: h } };
};

function drawNodeAt(painter, ctx, id, { x, y }, selected) {
  const [look, theme] = [painter.look(id), painter.theme()];
  const box = { x, y, ...painter.sizeOf(id) };
  const scaled = look.scale !== undefined && look.scale !== 1;
  ctx.save();
  if (scaled) {
    ctx.translate(x, y);
    ctx.scale(look.scale, look.scale);
    ctx.translate(-x, -y);
  }
  if (selected || look.ringed) drawRing(ctx, box, theme);
  if (look.faded) ctx.globalAlpha = FADED_SHAPE;
  drawShape(ctx, look, box, theme);
  if (look.faded) ctx.globalAlpha = FADED_LABEL;
  drawLabel(ctx, look, box, theme);
  ctx.restore();
}

/** The edge being drawn, from a node to the pointer, in canvas coordinates. */
export function drawPreview(ctx, from, to, theme) {
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
  ctx.setLineDash([7, 5]);
  ctx.lineWidth = 2.5;
  ctx.strokeStyle = theme.accent;
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.arc(to.x, to.y, 5, 0, 2 * Math.PI);
  ctx.fillStyle = theme.accent;
  ctx.fill();
}
