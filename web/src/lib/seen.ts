// Telling the daemon what somebody looked at. Whether an agent is unseen is the API's word, the same on every surface;
// each change is told once, and a daemon that was away is told when the page is next looked at.
import { ApiError, post } from "./api";
import type { Agent } from "./types";

const told = new Map<string, string>();

export function markSeen(agent: Agent): void {
  if (!agent.unseen || told.get(agent.id) === agent.state_since) return;
  told.set(agent.id, agent.state_since);
  post(`/api/agents/${encodeURIComponent(agent.id)}/seen`).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    told.delete(agent.id);
  });
}
