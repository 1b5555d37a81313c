// A part of a page that cannot be loaded is asked for as a whole page, which says why.
document.addEventListener("htmx:response:error", (event) => {
  const wanted = event.detail.ctx;
  wanted.swap = "none";
  window.location.assign(wanted.request.action);
});
