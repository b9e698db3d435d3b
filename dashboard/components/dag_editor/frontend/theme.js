// Colours. They come from Streamlit's CSS variables, so that the drawing follows the page's theme.

const probe = document.createElement("canvas");
probe.width = probe.height = 1;
const probeContext = probe.getContext("2d", { willReadFrequently: true });

const parsed = new Map();

// The browser parses the colour: variables hold hex, rgb() or names. Each is asked for at every
// node of every frame, and reading a pixel back is slow.
function rgb(colour) {
  if (!parsed.has(colour)) parsed.set(colour, parse(colour));
  return parsed.get(colour);
}

function parse(colour) {
  probeContext.clearRect(0, 0, 1, 1);
  probeContext.fillStyle = "#808080";
  probeContext.fillStyle = colour;
  probeContext.fillRect(0, 0, 1, 1);
  return probeContext.getImageData(0, 0, 1, 1).data;
}

/** Mix `share` (0 to 1) of `colour` into `ground`. */
export function mix(colour, ground, share) {
  const [a, b] = [rgb(colour), rgb(ground)];
  const channel = (i) => Math.round(a[i] * share + b[i] * (1 - share));
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}

function remembered(make) {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key);
  };
}

/**
 * Read the page's theme at the component's place.
 * @param root a shadow root or an element  @param looks role -> hue, outline and borders
 */
export function readTheme(root, looks) {
  const style = getComputedStyle(root.host ?? root);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const background = read("--st-background-color", "#ffffff");
  const text = read("--st-text-color", "#31333f");
  const [r, g, b] = rgb(background);
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
  // Pure hues are too pale for a line on white, or too dark on black: shift them a little.
  const line = (hue) => (dark ? mix(hue, "#ffffff", 0.78) : mix(hue, "#000000", 0.84));
  const hue = (role) => looks[role].hue;
  const stroke = (role) => (hue(role) ? line(hue(role)) : mix(text, background, 0.5));
  const fill = (role) => {
    if (!hue(role)) return background;
    const { wash } = looks[role];
    return mix(hue(role), background, dark ? Math.max(wash, 0.26) : wash);
  };
  return {
    looks,
    dark,
    text,
    background,
    accent: read("--st-primary-color", "#ff4b4b"),
    font: read("--st-font", "sans-serif"),
    faint: mix(text, background, 0.72),
    edge: mix(text, background, 0.72),
    faintEdge: mix(text, background, 0.34),
    // Once a theme, not once a node and frame.
    stroke: remembered(stroke),
    fill: remembered(fill),
  };
}
