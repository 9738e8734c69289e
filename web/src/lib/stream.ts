// The connection to the event stream. It never ends by itself: after a failure it reconnects with `Last-Event-ID`, first
// quickly, then every few seconds, and immediately when the machine wakes up or the network returns.
import { ApiError, isSignedOut, send } from "./api";
import { SseParser, type SseMessage } from "./sse-parser";

const MIN_RETRY_MILLISECONDS = 250;
const MAX_RETRY_MILLISECONDS = 4_000;
/** The daemon sends a heartbeat every 15 s. Without any data for this long the connection is dead. */
const SILENCE_MILLISECONDS = 40_000;

export type Connection = "connecting" | "live" | "offline" | "signed out";

export interface StreamListener {
  onConnection(connection: Connection): void;
  onMessages(messages: SseMessage[]): void;
  /** The id of the last event that was received. */
  lastEventId(): number;
}

/** Returns a function that closes the connection. */
export function followStream(listener: StreamListener): () => void {
  const stop = new AbortController();
  void run(listener, stop.signal);
  return () => stop.abort();
}

async function run(listener: StreamListener, stopped: AbortSignal): Promise<void> {
  let pause = MIN_RETRY_MILLISECONDS;
  while (!stopped.aborted) {
    try {
      await connect(listener, stopped, () => (pause = MIN_RETRY_MILLISECONDS));
    } catch (error) {
      if (stopped.aborted) return;
      if (isSignedOut(error)) {
        listener.onConnection("signed out");
        return;
      }
      if (!(error instanceof ApiError) && !(error instanceof TypeError) && !isAbort(error)) throw error;
    }
    if (stopped.aborted) return;
    listener.onConnection("offline");
    await sleep(pause, stopped);
    pause = Math.min(pause * 2, MAX_RETRY_MILLISECONDS);
  }
}

async function connect(listener: StreamListener, stopped: AbortSignal, onOpen: () => void): Promise<void> {
  const connection = new AbortController();
  const abort = (): void => connection.abort();
  stopped.addEventListener("abort", abort);
  let watchdog = setTimeout(abort, SILENCE_MILLISECONDS);
  try {
    const headers = { "Last-Event-ID": String(listener.lastEventId()), Accept: "text/event-stream" };
    const response = await send("/api/events/stream", { headers, signal: connection.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new SseParser();
    for (let isFirst = true; ; isFirst = false) {
      const { value, done } = await reader.read();
      if (done) return;
      if (isFirst) {
        onOpen();
        listener.onConnection("live");
      }
      clearTimeout(watchdog);
      watchdog = setTimeout(abort, SILENCE_MILLISECONDS);
      const messages = parser.push(value);
      if (messages.length > 0) listener.onMessages(messages);
    }
  } finally {
    clearTimeout(watchdog);
    stopped.removeEventListener("abort", abort);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Wait, or return early when the network returns or the page becomes visible. */
function sleep(milliseconds: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
    stopped.addEventListener("abort", done, { once: true });
  });
}
