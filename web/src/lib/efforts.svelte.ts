// The efforts under way, by the agent that works on each: what a card says of them. Read once, then kept up by the
// stream; counts of calls are not announced, so views that show them ask again.
import { ApiError, get } from "./api";
import type { Told } from "./apply";
import { board } from "./board.svelte";
import type { Effort } from "./types";

class Efforts {
  active = $state.raw<ReadonlyMap<string, Effort>>(new Map());

  /** The newest effort that an agent works on. */
  of(agentId: string): Effort | null {
    let found: Effort | null = null;
    for (const effort of this.active.values()) {
      if (effort.agent_id === agentId && (found === null || effort.started_at > found.started_at)) found = effort;
    }
    return found;
  }

  async load(): Promise<void> {
    try {
      const found = await get<Effort[]>("/api/efforts");
      this.active = new Map(found.map((effort) => [effort.id, effort]));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  hear(told: Told[]): void {
    const changed = told.filter((each) => each.type === "effort_changed").map((each) => each.data.effort as Effort);
    if (changed.length === 0) return;
    const active = new Map(this.active);
    for (const effort of changed) {
      if (effort.lifecycle === "active") active.set(effort.id, effort);
      else active.delete(effort.id);
    }
    this.active = active;
  }
}

export const efforts = new Efforts();
board.subscribe((told) => efforts.hear(told));

export function effortPath(id: string): string {
  return `/efforts/${encodeURIComponent(id)}`;
}

/** "fix #2", with its phase where it has one. */
export function effortWords(effort: Effort): string {
  return effort.phase ? `${effort.skill} #${effort.ordinal}, ${effort.phase}` : `${effort.skill} #${effort.ordinal}`;
}
