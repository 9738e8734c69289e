// The one clock of the page: every time in words ticks with it.

class Now {
  value = $state(Date.now());

  constructor() {
    setInterval(() => (this.value = Date.now()), 1_000);
    document.addEventListener("visibilitychange", () => (this.value = Date.now()));
  }
}

export const now = new Now();
