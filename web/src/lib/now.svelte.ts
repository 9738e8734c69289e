// The current time, updated every second, and whether the page is visible.

class Now {
  value = $state(Date.now());
  pageIsVisible = $state(!document.hidden);

  constructor() {
    setInterval(() => (this.value = Date.now()), 1_000);
    document.addEventListener("visibilitychange", () => {
      this.value = Date.now();
      this.pageIsVisible = !document.hidden;
    });
  }
}

export const now = new Now();
