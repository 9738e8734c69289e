// Being called by the browser: only where somebody allowed it, only while the tab is hidden, once per need. The daemon
// decides whom to call about what (`notification` with the channel `page`); here it is only shown, and taken back when
// it is over. The other way round this page tells the daemon what its reader has before him.
import { post } from "./api";
import { board } from "./board.svelte";
import { Kept } from "./kept.svelte";
import { agentPath, route } from "./route.svelte";
import { ui } from "./ui.svelte";
import { summary } from "./words";

const TELL_EVERY = 30_000;
/** Whoever has not touched the page for so long is not believed to look at it. */
const HERE_FOR = 120_000;
const TOUCHES = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

interface Notice {
  agent_id: string;
  need: string;
  channel: string;
  status: string;
  title: string;
}

class Calling {
  readonly wanted = new Kept<boolean>("notify", false);
  permission = $state<NotificationPermission | "unsupported">(
    "Notification" in window ? Notification.permission : "unsupported",
  );
  isOn = $derived(this.wanted.value && this.permission === "granted");

  readonly #page = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  readonly #shown = new Map<string, Notification>();
  #touchedAt = Date.now();
  #told = "";

  start(): void {
    board.subscribe((told) => {
      for (const each of told) if (each.type === "notification") this.#take(each.data as unknown as Notice);
    });
    for (const touch of TOUCHES) window.addEventListener(touch, () => this.#touched(), { passive: true });
    document.addEventListener("visibilitychange", () => this.#tell());
    setInterval(() => this.#tell(true), TELL_EVERY);
    $effect.root(() => {
      $effect(() => {
        void [route.place, ui.selected, this.isOn, board.link];
        this.#tell();
      });
    });
  }

  async turnOn(): Promise<void> {
    if (this.permission === "unsupported") return;
    this.permission = await Notification.requestPermission();
    this.wanted.value = this.permission === "granted";
  }

  #touched(): void {
    const away = Date.now() - this.#touchedAt > HERE_FOR;
    this.#touchedAt = Date.now();
    if (away) this.#tell();
  }

  /** Tell what is before the reader's eyes, when that changed, and now and then. */
  #tell(anyhow = false): void {
    if (board.link !== "live") return;
    const place = route.place;
    const agent = place.view === "agent" ? place.id : place.view === "board" ? ui.selected : null;
    const visible = !document.hidden && Date.now() - this.#touchedAt < HERE_FOR;
    const told = { page: this.#page, agent_id: agent && board.agents.has(agent) ? agent : null, visible, notifies: this.isOn };
    const text = JSON.stringify(told);
    if (text === this.#told && !anyhow) return;
    this.#told = text;
    post("/api/presence", told).catch(() => (this.#told = ""));
  }

  #take(notice: Notice): void {
    if (notice.channel !== "page") return;
    if (notice.status === "over") {
      this.#shown.get(notice.need)?.close();
      this.#shown.delete(notice.need);
    } else if (notice.status === "sending" && this.isOn && document.hidden) {
      this.#show(notice);
    }
  }

  #show(notice: Notice): void {
    const agent = board.agents.get(notice.agent_id);
    // What is told again after a pause may be over by now.
    if (!agent?.notices.some((each) => each.need === notice.need && each.channel === "page" && each.status !== "over")) return;
    const body = `${summary(agent, Date.now())}\n${agent.project.name}`;
    const shown = new Notification(notice.title, { body, tag: notice.need, icon: "/icons/1.svg" });
    shown.onclick = () => {
      window.focus();
      route.go(agentPath(notice.agent_id));
      shown.close();
    };
    this.#shown.set(notice.need, shown);
  }
}

export const calling = new Calling();
