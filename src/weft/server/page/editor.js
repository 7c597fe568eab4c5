/* Button that opens a passage in the editor of the person who runs the server. */

import * as api from "./api.js";
import { announce, el, problem } from "./dom.js";

/** Schemes that the browser would open itself. The server refuses them too. */
const OWN_SCHEMES = /^(about|blob|data|file|ftp|https?|javascript|vbscript):/i;
let allowed = null;

/** Return the button, hidden unless the server may open files. */
export function openButton(id, citation) {
  const name = "Open";
  const label = `Open ${citation} in the editor`;
  const button = el("button", { type: "button", class: "plain small", "aria-label": label, hidden: true }, name);
  allowed ??= api.key().then(
    ({ can_open: canOpen }) => canOpen,
    () => (allowed = null),
  );
  allowed.then((may) => (button.hidden = !may));
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { address } = await api.open(id);
      if (address && !OWN_SCHEMES.test(address)) location.assign(address);
      button.textContent = "Opened";
      announce("Opened in the editor");
    } catch (error) {
      button.textContent = problem(error);
      announce(problem(error));
    }
    button.disabled = false;
    setTimeout(() => (button.textContent = name), 4000);
  });
  return button;
}
