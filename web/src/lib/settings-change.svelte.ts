// A change of settings: planned by the daemon, shown as a diff, and written only when it is confirmed.
import { post, type Body, type Reply } from "./api";
import { Resource } from "./resource.svelte";

export type SettingsChange = Omit<Body<"/api/settings">, "confirmed">;

export class PlannedChange {
  readonly plan = new Resource<Reply<"/api/settings", "post">>();
  change = $state.raw<SettingsChange | null>(null);
  #onWritten: () => void;

  constructor(onWritten: () => void) {
    this.#onWritten = onWritten;
  }

  /** Ask the daemon for the resulting files. */
  show(change: SettingsChange): void {
    this.change = change;
    this.plan.clear();
    void this.plan.load(() => post("/api/settings", {}, change));
  }

  /** Write exactly what is shown. */
  async confirm(): Promise<void> {
    const shown = this.plan.value;
    if (this.change === null || shown === null) return;
    const change = { ...this.change, confirmed: shown.digest };
    await this.plan.load(() => post("/api/settings", {}, change));
    if (this.plan.value?.written) {
      this.cancel();
      this.#onWritten();
    }
  }

  cancel(): void {
    this.change = null;
    this.plan.clear();
  }
}

/** What a change of the rules for tool calls means, if it stops fewer calls than the built-in rules. */
export function warningOf(change: SettingsChange | null): string {
  const preset = change?.settings?.policy_preset;
  if (preset === "off") return "No tool call is checked any more.";
  if (preset === "watch") return "Tool calls are only recorded. None is stopped.";
  return "";
}
