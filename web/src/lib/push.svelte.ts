// Pushes to this browser: the subscription of its push service, which the daemon stores. A new sign-in, another key of the
// daemon or a new address of the push service is reported when the page is opened.
import { ApiError, get, post, type Body, type Reply } from "./api";
import { Resource } from "./resource.svelte";
import { serviceWorker } from "./service-worker.svelte";

export type PushStatus = Reply<"/api/notifications/push">;

class Push {
  readonly status = new Resource<PushStatus>();

  get isSupported(): boolean {
    return serviceWorker.registration !== null && "PushManager" in window;
  }

  get isOn(): boolean {
    return this.status.value?.browsers.some((browser) => browser.is_this) ?? false;
  }

  load(): Promise<void> {
    return this.status.load(() => get("/api/notifications/push", {}));
  }

  /** Ask for permission if necessary, then subscribe. */
  enable(): Promise<void> {
    return this.status.load(async () => {
      if ((await Notification.requestPermission()) !== "granted") {
        throw new ApiError(0, "blocked", "Notifications are blocked.", "Allow them for this site in the browser's settings.");
      }
      return this.#subscribe();
    });
  }

  remove(id: string): Promise<void> {
    return this.status.load(async () => {
      const isThis = this.status.value?.browsers.some((browser) => browser.id === id && browser.is_this);
      const status = await post("/api/notifications/push/remove", {}, { id });
      if (isThis) await (await this.#current())?.unsubscribe();
      return status;
    });
  }

  /** Report the subscription of this browser again, if it has one. */
  async renew(): Promise<void> {
    if (this.isSupported && Notification.permission === "granted" && (await this.#current())) await this.status.load(() => this.#subscribe());
  }

  async #current(): Promise<PushSubscription | null> {
    return (await serviceWorker.registration?.pushManager.getSubscription()) ?? null;
  }

  async #subscribe(): Promise<PushStatus> {
    const { public_key } = await get("/api/notifications/push", {});
    const before = await this.#current();
    if (before && keyOf(before) !== public_key) await before.unsubscribe();
    const wanted = { userVisibleOnly: true, applicationServerKey: public_key };
    const subscription = await serviceWorker.registration!.pushManager.subscribe(wanted).catch((error: DOMException) => {
      throw new ApiError(0, "no_push_service", `The browser's push service refused: ${error.message}`, "Try again later.");
    });
    return post("/api/notifications/push", {}, subscription.toJSON() as Body<"/api/notifications/push">);
  }
}

function keyOf(subscription: PushSubscription): string {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export const push = new Push();
