// A picture of the columns that stand still. While a column is dragged, or an edge is drawn, everything
// is drawn again for each move of the pointer: at 200 columns copying one picture takes a fraction of
// drawing all their shapes and names.

export class Still {
  constructor() {
    this.release();
  }

  /**
   * From now on, until `release`, all columns but these stand still.
   * @param moving ids of the columns that are dragged
   */
  hold(moving) {
    Object.assign(this, { held: true, moving: new Set(moving), picture: null });
  }

  release() {
    Object.assign(this, { held: false, moving: new Set(), picture: null });
  }

  /** To be called at the start of every drawing. */
  begin() {
    this.copied = false;
  }

  /**
   * Draw a column: the first that stands still brings all others that do.
   * @param draw (ctx) draws this column  @param drawAll (ctx, moving) draws all but those
   */
  draw(ctx, id, draw, drawAll) {
    if (!this.held || this.moving.has(id)) {
      draw(ctx);
      return;
    }
    if (this.copied) return;
    this.copied = true;
    // While an edge is drawn by two clicks, the view may be moved in between.
    const view = `${ctx.getTransform()} ${ctx.canvas.width} ${ctx.canvas.height}`;
    if (!this.picture || view !== this.view) this.picture = this.take(ctx, drawAll);
    this.view = view;
    ctx.save();
    ctx.resetTransform();
    ctx.drawImage(this.picture, 0, 0);
    ctx.restore();
  }

  take(ctx, drawAll) {
    const picture = document.createElement("canvas");
    picture.width = ctx.canvas.width;
    picture.height = ctx.canvas.height;
    const copy = picture.getContext("2d");
    copy.setTransform(ctx.getTransform());
    drawAll(copy, this.moving);
    return picture;
  }
}
