// A part of a page that cannot be loaded is asked for as a whole page, which says why.
document.addEventListener("htmx:response:error", (event) => {
  const wanted = event.detail.ctx;
  wanted.swap = "none";
  window.location.assign(wanted.request.action);
});

// A button that prints needs this script; without it the browser's own menu prints.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
