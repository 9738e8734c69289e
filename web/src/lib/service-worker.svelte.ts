// The service worker of this page (`worker/`), and the installation of the page as an app. The service worker opens views
// that belong to notifications; it is missing where browsers do not permit it: without https, except on this machine.
import { router } from "./router.svelte";

/** Chromium offers the installation with this event. It is not part of the standard. */
interface InstallEvent extends Event {
  prompt: () => Promise<{ outcome: "accepted" | "dismissed" }>;
}

class ServiceWorker {
  registration = $state.raw<ServiceWorkerRegistration | null>(null);
  /** Why there is none. */
  problem = $state("");
  #installEvent = $state.raw<InstallEvent | null>(null);
  isInstalled = $state(matchMedia("(display-mode: standalone)").matches);

  start(): void {
    window.addEventListener("beforeinstallprompt", (event) => {
      event.preventDefault();
      this.#installEvent = event as InstallEvent;
    });
    window.addEventListener("appinstalled", () => (this.isInstalled = true));
    if (!("serviceWorker" in navigator)) {
      this.problem = window.isSecureContext ? "This browser has no service workers." : "This address has no https.";
      return;
    }
    navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ open?: string }>) => {
      if (data.open) router.navigate(data.open);
    });
    navigator.serviceWorker.startMessages();
    void this.#register();
  }

  get canInstall(): boolean {
    return this.#installEvent !== null;
  }

  async install(): Promise<void> {
    const event = this.#installEvent;
    this.#installEvent = null; // it works once
    if ((await event?.prompt())?.outcome === "accepted") this.isInstalled = true;
  }

  async #register(): Promise<void> {
    try {
      await navigator.serviceWorker.register("/service-worker.js");
      this.registration = await navigator.serviceWorker.ready;
    } catch (error) {
      this.problem = (error as Error).message;
    }
  }
}

export const serviceWorker = new ServiceWorker();
