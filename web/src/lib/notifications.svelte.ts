// Browser notifications: only if the user enabled them, only while the tab is hidden, one per need. The daemon decides
// what to notify about (`notification` events of the channel `page`); this module shows it, and closes it when the need
// is resolved. It also reports to the daemon which agent the user is looking at (`POST /api/presence`).
import { post } from "./api";
import { board } from "./board.svelte";
import { notificationText } from "./notification-text";
import { agentPath, router } from "./router.svelte";
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
    });
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
      this.#shown.get(event.need)?.close();
      this.#shown.delete(event.need);
    } else if (event.status === "sending" && this.isEnabled && document.hidden) {
      this.#show(event);
    }
  }

  #show(event: NotificationEvent): void {
    const agent = board.agents.get(event.agent_id);
    // After a reconnect the stream repeats events: the need may be resolved already.
    if (!agent?.notices.some((notice) => notice.need === event.need && notice.channel === "page" && notice.status !== "over")) return;
    const shown = new Notification(event.title, { body: notificationText(agent, event.need), tag: event.need, icon: "/icons/1.svg" });
    shown.onclick = () => {
      window.focus();
      router.navigate(agentPath(event.agent_id));
      shown.close();
    };
    this.#shown.set(event.need, shown);
  }
}

export const notifications = new BrowserNotifications();
