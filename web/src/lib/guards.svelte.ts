// Why guards are off. Read every few seconds while the page is visible, because the stream contains only agents.
import { get, type Reply } from "./api";

type GuardProblem = NonNullable<Reply<"/health">["guard_problems"]>[number];

const SECONDS = 3;

class Guards {
  problems = $state<GuardProblem[]>([]);

  constructor() {
    setInterval(() => void this.read(), SECONDS * 1000);
    document.addEventListener("visibilitychange", () => void this.read());
    void this.read();
  }

  private async read(): Promise<void> {
    if (document.hidden) return;
    try {
      this.problems = (await get("/health", {})).guard_problems ?? [];
    } catch {
      // The daemon cannot be reached, which another banner says. What was known stays.
    }
  }
}

export const guards = new Guards();
