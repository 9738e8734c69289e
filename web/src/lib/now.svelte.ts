// The one clock of the page: every time in words ticks with it. It also knows whether anybody can see the page.

class Now {
  value = $state(Date.now());
  visible = $state(!document.hidden);

  constructor() {
    setInterval(() => (this.value = Date.now()), 1_000);
    document.addEventListener("visibilitychange", () => {
      this.value = Date.now();
      this.visible = !document.hidden;
    });
  }
}

export const now = new Now();
