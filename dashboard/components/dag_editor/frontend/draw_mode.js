// Drawing an edge: drag from cause to effect, or click the one and then the other (for those who
// cannot drag). Pointer events on a node are taken before vis sees them; on empty ground vis keeps
// them, so that the view can still be moved.

const CLICK_SLOP = 5;

export class EdgeDrawer {
  /**
   * @param container element that holds the vis canvas
   * @param host {nodeAt(point) -> id, onEdge(from, to), onPick(id), onMiss(), redraw()}
   */
  constructor(container, host) {
    Object.assign(this, { container, host, active: false, from: null, pointer: null });
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal, capture: true };
    container.addEventListener("pointerdown", (event) => this.down(event), options);
    window.addEventListener("pointermove", (event) => this.move(event), options);
    window.addEventListener("pointerup", (event) => this.up(event), options);
    window.addEventListener("pointercancel", () => this.cancel(), options);
  }

  setActive(active) {
    this.active = active;
    this.cancel();
  }

  cancel() {
    Object.assign(this, { from: null, start: null, picked: false });
    this.host.redraw();
  }

  destroy() {
    this.listeners.abort();
  }

  down(event) {
    if (!this.active || event.button !== 0) return;
    const point = this.locate(event);
    const id = this.host.nodeAt(point);
    if (!id) return;
    event.stopPropagation();
    this.start = point;
    this.pointer = point;
    if (this.picked) return;
    this.from = id;
    this.host.redraw();
  }

  move(event) {
    if (this.from === null) return;
    this.pointer = this.locate(event);
    this.host.redraw();
  }

  up(event) {
    if (this.from === null || !this.start) return;
    const point = this.locate(event);
    const to = this.host.nodeAt(point);
    const from = this.from;
    const still = Math.hypot(point.x - this.start.x, point.y - this.start.y) < CLICK_SLOP;
    this.start = null;
    if (to === from && still && !this.picked) {
      this.picked = true;
      this.host.onPick(from);
      return;
    }
    this.cancel();
    if (to) this.host.onEdge(from, to);
    else this.host.onMiss();
  }

  /** Where the pointer is, in pixels of the container. */
  locate(event) {
    const box = this.container.getBoundingClientRect();
    return { x: event.clientX - box.left - this.container.clientLeft,
      y: event.clientY - box.top - this.container.clientTop };
  }
}
