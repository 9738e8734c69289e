// What was looked at here: an agent is unseen when it came to wait, to stop or to finish since it was last opened.
import { Kept } from "./kept.svelte";
import { instant } from "./time";
import type { Agent } from "./types";

const MOST = 1_000;
const CALLS = new Set(["waiting", "error", "idle"]);

const seen = new Kept<Record<string, number>>("seen", {});
/** What happened before somebody came here for the first time is not news. */
const firstVisit = new Kept<number>("first-visit", 0);
if (firstVisit.value === 0) firstVisit.value = Date.now();

export function isUnseen(agent: Agent): boolean {
  if (!CALLS.has(agent.state) || (agent.state === "idle" && agent.command === null)) return false;
  const looked = seen.value[agent.id] ?? (agent.state === "idle" ? firstVisit.value : 0);
  return instant(agent.state_since) > looked;
}

export function markSeen(agent: Agent): void {
  if (!isUnseen(agent)) return;
  const kept = Object.entries(seen.value).toSorted(([, a], [, b]) => b - a).slice(0, MOST);
  seen.value = { ...Object.fromEntries(kept), [agent.id]: Math.max(Date.now(), instant(agent.state_since)) };
}
