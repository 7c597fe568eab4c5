/* Camera of the drawing: the visible part of the plane, moved and zoomed by pointer and keyboard. */

const MIN_SCALE = 0.01;
const MAX_SCALE = 6;
const ZOOM_STEP = 1.3;
/** The pointer must move this many pixels before a press becomes a drag. */
const MIN_DRAG = 4;

export class Camera {
  /** With `isInline`, the wheel scrolls the page and zooms only with the control key. */
  constructor(canvas, { onChange, onPress, onDrag, onClick, onOpen, isInline = false }) {
    this.canvas = canvas;
    this.isInline = isInline;
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.width = 1;
    this.height = 1;
    this.handlers = { onChange, onPress, onDrag, onClick, onOpen };
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("dblclick", (event) => onOpen(this.at(event)));
    canvas.addEventListener("wheel", (event) => this.roll(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Return the point of the plane under the pointer. */
  at({ offsetX, offsetY }) {
    return {
      x: (offsetX - this.width / 2) / this.scale + this.x,
      y: (offsetY - this.height / 2) / this.scale + this.y,
    };
  }

  /** Return the visible part of the plane. */
  box() {
    const [w, h] = [this.width / 2 / this.scale, this.height / 2 / this.scale];
    return { left: this.x - w, right: this.x + w, top: this.y - h, bottom: this.y + h };
  }

  /** Show a rectangle of the plane with a margin. */
  fit({ left, right, top, bottom }, { max = MAX_SCALE } = {}) {
    const scale = 0.92 * Math.min(this.width / Math.max(right - left, 1), this.height / Math.max(bottom - top, 1));
    this.look((left + right) / 2, (top + bottom) / 2, Math.min(scale, max));
  }

  look(x, y, scale = this.scale) {
    this.x = x;
    this.y = y;
    this.scale = Math.min(Math.max(scale, MIN_SCALE), MAX_SCALE);
    this.handlers.onChange();
  }

  /** Zoom by a factor; the point of the plane under the pointer stays there. */
  zoom(factor, event = { offsetX: this.width / 2, offsetY: this.height / 2 }) {
    const before = this.at(event);
    this.scale = Math.min(Math.max(this.scale * factor, MIN_SCALE), MAX_SCALE);
    const after = this.at(event);
    this.look(this.x + before.x - after.x, this.y + before.y - after.y);
  }

  roll(event) {
    if (this.isInline && !event.ctrlKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.005), event);
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size > 1) this.grabbed = null;
    else {
      this.start = { x: event.offsetX, y: event.offsetY };
      this.isDrag = false;
      this.grabbed = this.handlers.onPress(this.at(event));
    }
  }

  move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.offsetX - last.x, event.offsetY - last.y];
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    if (others.length) this.pinch(event, last, others[0]);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (others.length) return;
    if (!this.isDrag && Math.hypot(event.offsetX - this.start.x, event.offsetY - this.start.y) < MIN_DRAG) return;
    this.isDrag = true;
    if (this.grabbed === null || this.grabbed === undefined)
      this.look(this.x - dx / this.scale, this.y - dy / this.scale);
    else this.handlers.onDrag(this.grabbed, this.at(event));
  }

  /** Two fingers zoom by the change of their distance. */
  pinch(event, last, other) {
    this.isDrag = true;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
    const middle = { offsetX: (event.offsetX + other.x) / 2, offsetY: (event.offsetY + other.y) / 2 };
    if (before > 10) this.zoom(after / before, middle);
  }

  release(event) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size) return;
    if (!this.isDrag) this.handlers.onClick(this.at(event));
  }

  key(event) {
    const step = 60 / this.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) this.look(this.x + moves[event.key][0], this.y + moves[event.key][1]);
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM_STEP);
    else if (event.key === "-") this.zoom(1 / ZOOM_STEP);
    else return;
    event.preventDefault();
  }
}
