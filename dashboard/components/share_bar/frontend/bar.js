// One bar on the page. It owns the tenths of a revision; Python owns everything else.

import { WHOLE, keyed, moved, percent, range } from "./shares.js";
import { buildView, showShares } from "./view.js";

const SNAP = 5; // tenths, for the mouse; the keys go finer
const LIVE_MS = 300; // while a handle is dragged, Python hears of it this often

export class ShareBar {
  constructor(root) {
    this.root = root;
    this.rev = null;
    this.tenths = [];
    this.parts = [];
    this.view = null;
  }

  /** Take what Python sent. `send` hands the shares to Python. */
  update(data, send) {
    this.send = send;
    const looks = JSON.stringify([data.label, data.fixed, data.parts.map(({ tenths, ...rest }) => rest)]);
    const labels = JSON.stringify(data.parts.map((part) => part.label));
    const same = data.rev === this.rev && labels === this.labels;
    Object.assign(this, { parts: data.parts, labels });
    if (looks !== this.looks) this.rebuild(data);
    this.looks = looks;
    if (!same) {
      this.stopWaiting();
      this.rev = data.rev;
      this.tenths = data.parts.map((part) => part.tenths);
    }
    this.show();
  }

  destroy() {
    this.stopWaiting();
    this.view?.wrapper.remove();
    this.view = null;
  }

  get leasts() {
    return this.parts.map((part) => part.least);
  }

  rebuild({ label, fixed }) {
    const held = this.view?.handles.indexOf(this.root.activeElement);
    this.view?.wrapper.remove();
    this.view = buildView(this.root, label, this.parts, fixed);
    this.view.handles.forEach((handle, index) => this.listen(handle, index));
    this.view.handles[held]?.focus();
  }

  show() {
    showShares(this.view, this.parts, this.tenths, this.leasts);
  }

  // ---- moving ----------------------------------------------------------------------------------

  listen(handle, index) {
    handle.addEventListener("keydown", (event) => {
      const place = keyed(event, range(this.tenths, this.leasts, index));
      if (place === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(index, place);
      this.tell();
    });
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      handle.focus({ preventScroll: true });
      handle.setPointerCapture(event.pointerId);
      // Where in the handle it was taken: a click must not move it.
      const offset = event.clientX - this.middle(handle);
      this.grip = { index, offset, start: event.clientX };
    });
    const follow = (event) => {
      if (event.clientX === this.grip.start) return;
      this.grip.start = null;
      const { left, width } = this.view.bar.getBoundingClientRect();
      const place = ((event.clientX - this.grip.offset - left) / width) * WHOLE;
      this.move(index, Math.round(place / SNAP) * SNAP);
    };
    handle.addEventListener("pointermove", (event) => {
      if (this.grip?.index !== index) return;
      follow(event);
      this.waiting ??= setTimeout(() => this.tell(), LIVE_MS);
    });
    const drop = (event) => {
      if (this.grip?.index !== index) return;
      // A busy browser may leave the last move out.
      if (event.type === "pointerup") follow(event);
      this.grip = null;
      this.tell();
    };
    handle.addEventListener("pointerup", drop);
    handle.addEventListener("pointercancel", drop);
  }

  middle(handle) {
    const { left, width } = handle.getBoundingClientRect();
    return left + width / 2;
  }

  move(index, place) {
    this.tenths = moved(this.tenths, this.leasts, index, place);
    this.show();
    const [here, next] = [index, index + 1].map((i) => this.words(i));
    this.view.message.textContent = `${here}, ${next}`;
  }

  words(index) {
    return `${this.parts[index].label} ${percent(this.tenths[index])}`;
  }

  // ---- talking ---------------------------------------------------------------------------------

  stopWaiting() {
    clearTimeout(this.waiting);
    this.waiting = undefined;
  }

  /** Hand the shares to Python, once for every state of them. */
  tell() {
    this.stopWaiting();
    const message = JSON.stringify([this.rev, this.tenths]);
    if (message === this.told) return;
    this.told = message;
    this.send({ rev: this.rev, tenths: this.tenths });
  }
}
