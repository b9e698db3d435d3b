// Labels: a column name of any length and content as plain text. Python breaks it into lines.

export const LINE_HEIGHT = 20;
const FONT_SIZE = 16;

// Line breaks would tear a label; direction marks could make one column look like another.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One-line text for a name: what a message or a tooltip shows. */
export const plain = (name) => name.replace(UNPRINTABLE, "\ufffd") || "(no name)";

export const labelFont = (theme, bold) => `${bold ? "700" : "400"} ${FONT_SIZE}px ${theme.font}`;
