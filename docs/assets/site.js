// Names and focus that the controls of the theme lack: the search dialog, the buttons beside code, and what scrolls sideways.
const NAMES = [
  ["[data-md-component=search]", "Search"],
  [".md-search__options", "Search options"],
];
const SCROLLING = ".md-typeset__scrollwrap, .md-typeset pre > code";

function improve() {
  for (const [selector, name] of NAMES) {
    for (const part of document.querySelectorAll(selector)) part.setAttribute("aria-label", name);
  }
  document.querySelectorAll(".md-code__nav").forEach((nav, at) => nav.setAttribute("aria-label", `Code ${at + 1}`));
  for (const part of document.querySelectorAll(SCROLLING)) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
}

addEventListener("load", improve);
addEventListener("resize", improve);
