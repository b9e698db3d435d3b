// Entry point. Streamlit calls it at mount and again whenever data or theme change.

// Served from the installed pyvis, see _assets.py. The library puts itself on globalThis.vis.
import "../prism-dashboard.vis_network/vis-network.min.js";
import { Editor } from "./editor.js";

const editors = new WeakMap();

export default function dagEditor({ data, parentElement, setStateValue }) {
  let held = editors.get(parentElement);
  if (!held) {
    held = { editor: new Editor(parentElement), call: null };
    editors.set(parentElement, held);
  }
  // Streamlit may run the clean-up of a call that a later one has overtaken: the latest counts.
  const call = Symbol("call");
  held.call = call;
  held.editor.update(data, {
    send: (graph) => setStateValue("graph", graph),
    go: (steps) => setStateValue("steps", steps),
  });
  return () => {
    if (held.call !== call || editors.get(parentElement) !== held) return;
    held.editor.destroy();
    editors.delete(parentElement);
  };
}
