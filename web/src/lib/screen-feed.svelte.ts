// The live screen of an agent's terminal. It is connected only while it is followed, which a view does while it is
// visible. After a failure it connects again.
import { ApiError, send } from "./api";
import { parseVisible } from "./hidden-characters";
import { SseParser } from "./sse-parser";
import type { Screen } from "./stream-events";

const RETRY_MILLISECONDS = 1_500;

export class ScreenFeed {
  screen = $state.raw<Screen | null>(null);
  error = $state.raw<ApiError | null>(null);

  constructor(private readonly agent: string) {}

  /** Returns a function that ends it. */
  follow(): () => void {
    const stop = new AbortController();
    void this.#run(stop.signal);
    return () => stop.abort();
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      try {
        await this.#read(stopped);
      } catch (error) {
        if (stopped.aborted) return;
        if (!(error instanceof ApiError) && !(error instanceof TypeError)) throw error;
        if (error instanceof ApiError) this.error = error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
  }

  async #read(stopped: AbortSignal): Promise<void> {
    const response = await send(`/api/agents/${encodeURIComponent(this.agent)}/screen`, { signal: stopped });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new SseParser();
    for (;;) {
      const { value, done } = await reader.read();
      if (done || stopped.aborted) return;
      const newest = parser.push(value).at(-1);
      if (newest === undefined) continue;
      this.screen = parseVisible(newest.data) as Screen;
      this.error = null;
    }
  }
}
