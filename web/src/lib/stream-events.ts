// The events of the stream, and how they change the agents. Pure.
import type { Agent } from "./types";

/** An event of `/api/events/stream`. OpenAPI does not describe its data; docs/api.md does. */
export interface StreamEvent {
  type: string;
  id: number | null;
  data: Record<string, unknown> & { agent_id?: string };
}

/** A line of a terminal, in parts of one style: ANSI codes such as `1;31`. A wide part takes two columns. */
export type ScreenLine = { text: string; style?: string; wide?: boolean }[];

/** The event `screen` of `/api/agents/{agent}/screen`: what its terminal shows, or why there is nothing to show. */
export interface Screen {
  columns?: number;
  lines?: ScreenLine[];
  /** Row and column. */
  cursor?: [number, number];
  problem?: string;
  hint?: string;
}

/** Apply one event to the agents. `onUnknown` receives the id of an agent that is not in the map. */
export function applyEvent(agents: Map<string, Agent>, event: StreamEvent, onUnknown: (id: string) => void): void {
  const id = event.data.agent_id;
  if (id === undefined) return;
  if (event.type === "agent_created") {
    agents.set(id, event.data.agent as Agent);
    return;
  }
  const changes = event.data.changes as Partial<Agent> | undefined;
  if (changes === undefined) return;
  const agent = agents.get(id);
  if (agent === undefined) onUnknown(id);
  else agents.set(id, { ...agent, ...changes });
}
