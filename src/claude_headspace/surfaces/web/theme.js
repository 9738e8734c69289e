// Before the first paint: the theme that was chosen here, if one was. It must not wait for the page.
try {
  const chosen = localStorage.getItem("headspace.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}
