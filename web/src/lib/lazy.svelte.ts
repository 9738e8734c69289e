// A component that is loaded when it is first shown, so that the first load of the page stays small. Once loaded, it is
// rendered at once.
import type { Component } from "svelte";

export class Lazy<Props extends object> {
  component = $state.raw<Component<Props> | null>(null);
  /** It could not be loaded: the daemon was not reachable, or it was upgraded and has other files now. */
  hasFailed = $state(false);

  constructor(private readonly request: () => Promise<{ default: Component<Props> }>) {}

  async load(): Promise<void> {
    if (this.component !== null) return;
    try {
      this.component = (await this.request()).default;
      this.hasFailed = false;
    } catch {
      this.hasFailed = true;
    }
  }
}
