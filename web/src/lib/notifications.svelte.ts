// Browser notifications: only if the user enabled them, only while the tab is hidden, one per need. The daemon decides
// what to notify about (`notification` events of the channel `page`); this module shows it, and closes it when the need
// is resolved. The service worker shows it, if there is one: browsers on phones permit nothing else. It also reports to the daemon which agent the user is looking at (`POST /api/presence`).
import { post } from "./api";
import { board } from "./board.svelte";
import { notificationText } from "./notification-text";
import { agentPath, router, waitPath } from "./router.svelte";
import { serviceWorker } from "./service-worker.svelte";
import { StoredSetting } from "./stored-setting.svelte";
import { ui } from "./ui.svelte";

const REPORT_EVERY_MILLISECONDS = 30_000;
/** Without input for this long, the user is assumed not to be looking at the page. */
const INACTIVE_AFTER_MILLISECONDS = 120_000;
const INPUT_EVENTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

interface NotificationEvent {
  agent_id: string;
  need: string;
  channel: string;
  status: string;
  title: string;
}

class BrowserNotifications {
  readonly isWanted = new StoredSetting<boolean>("notify", false);
  permission = $state<NotificationPermission | "unsupported">(
    "Notification" in window ? Notification.permission : "unsupported",
  );
  isEnabled = $derived(this.isWanted.value && this.permission === "granted");

  readonly #pageId = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  readonly #shown = new Map<string, Notification>();
  #lastInputAt = Date.now();
  #lastReport = "";
  #hasRenewed = false;

  start(): void {
    board.subscribe((events) => {
      for (const event of events) if (event.type === "notification") this.#handle(event.data as unknown as NotificationEvent);
    });
    for (const event of INPUT_EVENTS) window.addEventListener(event, () => this.#onInput(), { passive: true });
    document.addEventListener("visibilitychange", () => this.#reportPresence());
    setInterval(() => this.#reportPresence({ evenIfSame: true }), REPORT_EVERY_MILLISECONDS);
    $effect.root(() => {
      $effect(() => {
        void [router.path, ui.selected, this.isEnabled, board.connection];
        this.#reportPresence();
      });
      $effect(() => {
        if (serviceWorker.registration && board.connection === "live") void this.#renewPush();
      });
    });
  }

  /** Once, after the page was opened: the daemon learns of changes of the subscription. */
  async #renewPush(): Promise<void> {
    if (this.#hasRenewed || this.permission !== "granted") return;
    this.#hasRenewed = true;
    await (await import("./push.svelte")).push.renew();
  }

  async enable(): Promise<void> {
    if (this.permission === "unsupported") return;
    this.permission = await Notification.requestPermission();
    this.isWanted.value = this.permission === "granted";
  }

  #onInput(): void {
    const wasInactive = Date.now() - this.#lastInputAt > INACTIVE_AFTER_MILLISECONDS;
    this.#lastInputAt = Date.now();
    if (wasInactive) this.#reportPresence();
  }

  #reportPresence({ evenIfSame = false } = {}): void {
    if (board.connection !== "live") return;
    const [first, id] = router.segments;
    const agent = first === "agents" ? id : router.isBoard ? ui.selected : null;
    const visible = !document.hidden && Date.now() - this.#lastInputAt < INACTIVE_AFTER_MILLISECONDS;
    const report = { page: this.#pageId, agent_id: agent && board.agents.has(agent) ? agent : null, visible, notifies: this.isEnabled };
    const text = JSON.stringify(report);
    if (text === this.#lastReport && !evenIfSame) return;
    this.#lastReport = text;
    post("/api/presence", {}, report).catch(() => (this.#lastReport = ""));
  }

  #handle(event: NotificationEvent): void {
    if (event.channel !== "page") return;
    if (event.status === "over") {
      void this.#close(event.need);
    } else if (event.status === "sending" && this.isEnabled && document.hidden) {
      void this.#show(event);
    }
  }

  async #close(need: string): Promise<void> {
    this.#shown.get(need)?.close();
    this.#shown.delete(need);
    for (const shown of (await serviceWorker.registration?.getNotifications({ tag: need })) ?? []) shown.close();
  }

  async #show(event: NotificationEvent): Promise<void> {
    const agent = board.agents.get(event.agent_id);
    // After a reconnect the stream repeats events: the need may be resolved already.
    if (!agent?.notices.some((notice) => notice.need === event.need && notice.channel === "page" && notice.status !== "over")) return;
    const path = agent.waits.some(({ id }) => id === event.need) ? waitPath(event.need) : agentPath(event.agent_id);
    const options = { body: notificationText(agent, event.need), tag: event.need, icon: "/icons/app-192.png", data: { path } };
    if (serviceWorker.registration) await serviceWorker.registration.showNotification(event.title, options);
    else this.#showWithoutWorker(event, options, path);
  }

  #showWithoutWorker(event: NotificationEvent, options: NotificationOptions, path: string): void {
    try {
      const shown = new Notification(event.title, options);
      shown.onclick = () => {
        window.focus();
        router.navigate(path);
        shown.close();
      };
      this.#shown.set(event.need, shown);
    } catch {
      this.permission = "unsupported"; // Chrome on Android has the constructor, and throws
    }
  }
}

export const notifications = new BrowserNotifications();
