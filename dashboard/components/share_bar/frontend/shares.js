// Arithmetic of shares: whole tenths of a percent, so that they always add up to the whole.

export const WHOLE = 1000;

/** Where the handle between part `index` and the next stands, and how far it may go. */
export function range(tenths, leasts, index) {
  const before = tenths.slice(0, index).reduce((sum, part) => sum + part, 0);
  const both = tenths[index] + tenths[index + 1];
  return {
    now: before + tenths[index],
    low: before + Math.min(leasts[index], tenths[index]),
    high: before + both - Math.min(leasts[index + 1], tenths[index + 1]),
  };
}

/** The shares once that handle stands at `place`; its two neighbours change, nothing else. */
export function moved(tenths, leasts, index, place) {
  const { now, low, high } = range(tenths, leasts, index);
  const step = Math.min(high, Math.max(low, Math.round(place))) - now;
  return tenths.map((part, i) => part + (i === index ? step : i === index + 1 ? -step : 0));
}

/** Tenths as people read them: 65 % or 64.5 %. */
export function percent(tenths) {
  return `${tenths % 10 ? (tenths / 10).toFixed(1) : tenths / 10} %`;
}

const SMALL = 1;
const STEP = 10;
const LARGE = 50;

/** Where a key moves a handle, or undefined when the key is none of ours. */
export function keyed(event, { now, low, high }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const step = event.shiftKey ? SMALL : STEP;
  return {
    ArrowLeft: now - step,
    ArrowDown: now - step,
    ArrowRight: now + step,
    ArrowUp: now + step,
    PageDown: now - LARGE,
    PageUp: now + LARGE,
    Home: low,
    End: high,
  }[event.key];
}
