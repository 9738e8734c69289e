// What the stream announces, applied to what is known. Pure: the map is the caller's own copy.
import type { Agent } from "./types";

export type Told = { type: string; id: number | null; data: Record<string, unknown> & { agent_id?: string } };

/** One announcement, applied to the agents. */
export function apply(agents: Map<string, Agent>, told: Told, missing: (id: string) => void): void {
  const id = told.data.agent_id;
  if (id === undefined) return;
  if (told.type === "agent_created") {
    agents.set(id, told.data.agent as Agent);
    return;
  }
  const changes = told.data.changes as Partial<Agent> | undefined;
  if (changes === undefined) return;
  const known = agents.get(id);
  if (known === undefined) missing(id);
  else agents.set(id, { ...known, ...changes });
}
