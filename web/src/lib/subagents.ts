// The sub-agents of an agent, running and finished, and the agents that it started. Pure.
import { parseTime } from "./time";
import type { Agent, Subagent, ToolCall } from "./types";

export interface SubagentRecord {
  id: string;
  type: string;
  /** What it was started for; empty if that is unknown. */
  description: string;
  /** Null if it has finished. */
  running: Subagent | null;
  calls: ToolCall[];
  startedAt: string;
}

/** The running sub-agents, then the finished ones that made tool calls, each group newest first. */
export function subagentHistory(running: Subagent[], calls: ToolCall[]): SubagentRecord[] {
  const records = new Map<string, SubagentRecord>();
  for (const subagent of running) {
    const { id, type, description, started_at: startedAt } = subagent;
    records.set(id, { id, type: type || "sub-agent", description, running: subagent, calls: [], startedAt });
  }
  for (const call of calls) {
    const id = call.subagent_id;
    if (id === null) continue;
    const record = records.get(id) ?? finishedRecord(id, call);
    record.calls.push(call);
    records.set(id, record);
  }
  return [...records.values()].toSorted(
    (a, b) => Number(b.running !== null) - Number(a.running !== null) || parseTime(b.startedAt) - parseTime(a.startedAt),
  );
}

function finishedRecord(id: string, call: ToolCall): SubagentRecord {
  const [type, description] = [call.subagent_type || "sub-agent", call.subagent_description ?? ""];
  return { id, type, description, running: null, calls: [], startedAt: call.started_at };
}

/** The agents that an agent started, oldest first. */
export function childAgents(id: string, agents: Iterable<Agent>): Agent[] {
  return [...agents].filter((agent) => agent.parent_id === id).toSorted((a, b) => parseTime(a.created_at) - parseTime(b.created_at));
}
