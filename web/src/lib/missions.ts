// What the list of missions and the page of one mission share.
import { board } from "./board.svelte";
import { throttle } from "./resource.svelte";
import { parseTime, shortDuration } from "./time";
import type { Mission } from "./types";

/** Load now, and again when a mission or the state of one of its workers changes. Returns a function that stops. */
export function followMissions(load: () => void, missions: () => Mission[]): () => void {
  load();
  const reload = throttle(1_000, load);
  return board.subscribe((events) => {
    const workers = new Set(missions().flatMap((mission) => mission.workers.map((worker) => worker.id)));
    const isRelevant = events.some(({ type, data }) => type === "mission_changed" || (type === "state_changed" && workers.has(data.agent_id ?? "")));
    if (isRelevant) reload();
  });
}

/** How long a mission took, or has taken so far. */
export function missionDuration(mission: Mission, now: number): string {
  return shortDuration(((mission.ended_at ? parseTime(mission.ended_at) : now) - parseTime(mission.started_at)) / 1000);
}
