/* Applies the stored colour theme before the first paint, so that the page does not flash. */
(() => {
  const stored = localStorage.getItem("weft-theme");
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
})();
