// The lanes of the timeline: loaded for a window, then updated by the stream. A window within the loaded one needs no
// request.
import { get } from "./api";
import { board } from "./board.svelte";
import { Resource, throttle } from "./resource.svelte";
import { afterEvent, lanesOf, type Lane, type Window } from "./timeline";
import type { Timeline } from "./types";

const RELOAD_MILLISECONDS = 5_000;

export class Lanes {
  lanes = $state.raw<ReadonlyMap<string, Lane>>(new Map());
  readonly request = new Resource<void>();
  isLoaded = $state(false);
  #loaded: Window | null = null;
  #isLive = false;

  /** Load what a window needs. A live window ends now. */
  show(window: Window, isLive: boolean): void {
    this.#isLive = isLive;
    const known = this.#loaded;
    if (known && window.from >= known.from && window.to <= (isLive ? Infinity : known.to)) return;
    void this.load(window);
  }

  async load(window: Window): Promise<void> {
    const isLive = this.#isLive;
    await this.request.load(async () => {
      const [since, until] = [new Date(window.from).toISOString(), isLive ? null : new Date(window.to).toISOString()];
      const reply = (await get("/api/timeline", { since, until })) as Timeline;
      this.lanes = lanesOf(reply);
      this.#loaded = { from: window.from, to: isLive ? Infinity : window.to };
      this.isLoaded = true;
    });
  }

  /** Load again what is loaded: events may have been missed, or there is a new agent. */
  reload(): void {
    if (this.#loaded) void this.load(this.#loaded);
  }

  /** Follow the stream while the loaded window is live. Returns a function that stops. */
  follow(): () => void {
    const reload = throttle(RELOAD_MILLISECONDS, () => this.reload());
    return board.subscribe((events) => {
      if (this.#loaded?.to !== Infinity) return;
      let lanes: ReadonlyMap<string, Lane> | null = this.lanes;
      for (const event of events) lanes = lanes && afterEvent(lanes, event, Date.now());
      if (lanes === null) reload();
      else this.lanes = lanes;
    });
  }
}
