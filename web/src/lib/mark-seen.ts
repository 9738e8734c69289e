// Reports to the daemon that the user looked at an agent, which clears its `unseen` mark in every view. Each state is
// reported once. If the request fails, it is sent again when the agent is shown the next time.
import { ApiError, post } from "./api";
import type { Agent } from "./types";

/** The `state_since` that was reported, by agent id. */
const reported = new Map<string, string>();

export function markSeen(agent: Agent): void {
  if (!agent.unseen || reported.get(agent.id) === agent.state_since) return;
  reported.set(agent.id, agent.state_since);
  post("/api/agents/{agent}/seen", { agent: agent.id }, {}).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    reported.delete(agent.id);
  });
}
