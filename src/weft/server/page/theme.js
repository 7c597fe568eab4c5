/* Runs before anything is drawn, so that the page does not flash in the wrong colours. */
(() => {
  const remembered = localStorage.getItem("weft-theme");
  if (remembered === "light" || remembered === "dark") document.documentElement.dataset.theme = remembered;
})();
