// The one file that talks to vis-network.

import { drawLabel, drawRing, drawShape } from "./shapes.js";

const edgeColours = (theme) => ({
  color: { color: theme.edge, highlight: theme.accent, hover: theme.text, inherit: false },
});

/**
 * An empty network whose nodes will be painted by us.
 * @param painter {look(id) -> {role, inS, lines, ringed}, sizeOf(id) -> {w, h}, theme()}
 */
export function createNetwork(container, painter) {
  const { DataSet, Network } = globalThis.vis;
  const nodes = new DataSet([]);
  const edges = new DataSet([]);
  const network = new Network(container, { nodes, edges }, {
    physics: false,
    layout: { improvedLayout: false, randomSeed: 1 },
    manipulation: { enabled: false },
    interaction: { hover: true, selectConnectedEdges: false, tooltipDelay: 250, zoomSpeed: 0.6 },
    nodes: { shape: "custom", ctxRenderer: paint(painter), borderWidth: 3, chosen: false },
    edges: {
      arrows: { to: { enabled: true, scaleFactor: 0.85 } },
      smooth: false,
      width: 1.7,
      selectionWidth: 2,
      hoverWidth: 1,
      ...edgeColours(painter.theme()),
    },
  });
  return { network, nodeSet: nodes, edgeSet: edges };
}

export const recolourEdges = (network, theme) =>
  network.setOptions({ edges: edgeColours(theme) });

const paint = (painter) => ({ ctx, id, x, y, state }) => {
  const [look, size, theme] = [painter.look(id), painter.sizeOf(id), painter.theme()];
  const box = { x, y, ...size };
  const drawNode = () => {
    if (state.selected || look.ringed) drawRing(ctx, box, theme);
    drawShape(ctx, look, box, theme);
    drawLabel(ctx, look, box, theme);
  };
  return { drawNode, nodeDimensions: { width: size.w, height: size.h } };
};

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
