// The live stream: everything after a position, for ever. When the connection breaks it is taken up again where it
// stopped (`Last-Event-ID`), soon at first and then every few seconds; a machine that wakes up tries at once.
import { ApiError, isSignedOut, send } from "./api";
import { Frames, type Message } from "./frames";

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 4_000;
/** The daemon sends a heartbeat every 15 s: silence for longer than this means a connection that died quietly. */
const SILENCE = 40_000;

export type Link = "connecting" | "live" | "offline" | "signed out";

export interface Listener {
  link(link: Link): void;
  messages(messages: Message[]): void;
  /** How far this reader came. */
  position(): number;
}

export function follow(listener: Listener): () => void {
  const stop = new AbortController();
  void run(listener, stop.signal);
  return () => stop.abort();
}

async function run(listener: Listener, stopped: AbortSignal): Promise<void> {
  let pause = FIRST_PAUSE;
  while (!stopped.aborted) {
    try {
      await readOnce(listener, stopped, () => (pause = FIRST_PAUSE));
    } catch (error) {
      if (stopped.aborted) return;
      if (isSignedOut(error)) {
        listener.link("signed out");
        return;
      }
      if (!(error instanceof ApiError) && !(error instanceof TypeError) && !isAbort(error)) throw error;
    }
    if (stopped.aborted) return;
    listener.link("offline");
    await sleep(pause, stopped);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function readOnce(listener: Listener, stopped: AbortSignal, opened: () => void): Promise<void> {
  const once = new AbortController();
  const abort = (): void => once.abort();
  stopped.addEventListener("abort", abort);
  let watchdog = setTimeout(abort, SILENCE);
  try {
    const told = { "Last-Event-ID": String(listener.position()), Accept: "text/event-stream" };
    const response = await send("/api/events/stream", { headers: told, signal: once.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const frames = new Frames();
    for (let first = true; ; first = false) {
      const { value, done } = await reader.read();
      if (done) return;
      if (first) {
        opened();
        listener.link("live");
      }
      clearTimeout(watchdog);
      watchdog = setTimeout(abort, SILENCE);
      const messages = frames.take(value);
      if (messages.length > 0) listener.messages(messages);
    }
  } finally {
    clearTimeout(watchdog);
    stopped.removeEventListener("abort", abort);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Wait, but not when the machine comes back from sleep or the network returns. */
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
