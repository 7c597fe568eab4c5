/* Note beside the pointer: the name of an entity and the sentence that describes it. */

import * as api from "../api.js";
import { el, replace } from "../dom.js";

const WAIT_MS = 120;
const MAX_LENGTH = 200;
const known = new Map();

/** Show a note for the entity under the pointer; `pick` returns its name for an event, or null. */
export function hover(canvas, pick) {
  const note = el("div", { class: "hover", role: "tooltip", hidden: true });
  let wanted = null;
  const hide = () => ([wanted, note.hidden] = [null, true]);
  canvas.after(note);
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("pointerdown", hide);
  canvas.addEventListener("pointermove", async (event) => {
    const name = event.buttons ? null : pick(event);
    if (name === null) return hide();
    const isLeft = event.offsetX > canvas.clientWidth / 2;
    note.style.left = isLeft ? "auto" : `${event.offsetX + 14}px`;
    note.style.right = isLeft ? `${canvas.clientWidth - event.offsetX + 14}px` : "auto";
    note.style.top = `${event.offsetY + 14}px`;
    if (name === wanted) return;
    wanted = name;
    replace(note, el("b", {}, name));
    note.hidden = false;
    await new Promise((done) => setTimeout(done, WAIT_MS));
    const text = wanted === name && (await describe(name));
    if (text && wanted === name) replace(note, el("b", {}, name), el("p", {}, text));
  });
}

/** Return the first sentence of the description of an entity. */
async function describe(name) {
  if (!known.has(name)) {
    const text = await api.entity(name, 1).then(({ entity }) => entity.description ?? "", () => "");
    const end = text.search(/[.!?](\s|$)|[。！？]/);
    const first = end < 0 ? text : text.slice(0, end + 1);
    known.set(name, first.length > MAX_LENGTH ? `${first.slice(0, MAX_LENGTH).trimEnd()}…` : first);
  }
  return known.get(name);
}
