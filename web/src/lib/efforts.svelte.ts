// The active efforts, for the cards of the agents that work on them. Loaded once and updated by the stream. The stream
// does not report tool call counts: views that show them load efforts themselves.
import { ApiError, get } from "./api";
import { board } from "./board.svelte";
import type { StreamEvent } from "./stream-events";
import type { Effort } from "./types";

class Efforts {
  active = $state.raw<ReadonlyMap<string, Effort>>(new Map());

  /** The newest effort that an agent works on. */
  forAgent(agentId: string): Effort | null {
    let newest: Effort | null = null;
    for (const effort of this.active.values()) {
      if (effort.agent_id === agentId && (newest === null || effort.started_at > newest.started_at)) newest = effort;
    }
    return newest;
  }

  async load(): Promise<void> {
    try {
      const efforts = await get("/api/efforts", {});
      this.active = new Map(efforts.map((effort) => [effort.id, effort]));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  apply(events: StreamEvent[]): void {
    const changed = events.filter((event) => event.type === "effort_changed").map((event) => event.data.effort as Effort);
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
board.subscribe((events) => efforts.apply(events));

/** "fix #2", with its phase if it has one. */
export function effortLabel(effort: Effort): string {
  return effort.phase ? `${effort.skill} #${effort.ordinal}, ${effort.phase}` : `${effort.skill} #${effort.ordinal}`;
}
