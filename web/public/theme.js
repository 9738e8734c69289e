// Applies the stored theme. A separate script, so that it runs before the first paint.
try {
  const theme = localStorage.getItem("headspace.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the theme is that of the system.
}
