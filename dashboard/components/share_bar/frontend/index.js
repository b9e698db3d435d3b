// Entry point. Streamlit calls it at mount and again whenever data or theme change.

import { ShareBar } from "./bar.js";

const bars = new WeakMap();

export default function shareBar({ data, parentElement, setStateValue }) {
  let held = bars.get(parentElement);
  if (!held) {
    held = { bar: new ShareBar(parentElement), call: null };
    bars.set(parentElement, held);
  }
  // Streamlit may run the clean-up of a call that a later one has overtaken: the latest counts.
  const call = Symbol("call");
  held.call = call;
  held.bar.update(data, (shares) => setStateValue("shares", shares));
  return () => {
    if (held.call !== call || bars.get(parentElement) !== held) return;
    held.bar.destroy();
    bars.delete(parentElement);
  };
}
