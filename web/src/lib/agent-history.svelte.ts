// The history of one agent: turns, state changes, tool calls and usage. Loaded when a view opens, then updated by the
// stream. Tool calls and usage are not in the stream: they are loaded again after events of the agent.
import { get } from "./api";
import { board } from "./board.svelte";
import { Resource, throttle } from "./resource.svelte";
import type { StreamEvent } from "./stream-events";
import type { Agent, StateChange, ToolCall, Turn, UsageSample } from "./types";

const LIMIT = 500;
const RELOAD_MILLISECONDS = 1_000;

export class AgentHistory {
  readonly turns = new Resource<Turn[]>();
  readonly states = new Resource<StateChange[]>();
  readonly calls = new Resource<ToolCall[]>();
  readonly usage = new Resource<UsageSample[]>();

  constructor(private readonly agent: string) {}

  /** Load everything and follow the stream. Returns a function that stops following. */
  follow(): () => void {
    const agent = this.agent;
    void this.turns.load(() => get("/api/agents/{agent}/turns", { agent, limit: LIMIT }));
    void this.states.load(() => get("/api/agents/{agent}/evidence", { agent, limit: LIMIT }));
    this.#loadCallsAndUsage();
    const reload = throttle(RELOAD_MILLISECONDS, () => this.#loadCallsAndUsage());
    return board.subscribe((events) => {
      const own = events.filter((event) => event.data.agent_id === agent);
      for (const event of own) this.#apply(event);
      if (own.length > 0) reload();
    });
  }

  #loadCallsAndUsage(): void {
    const agent = this.agent;
    void this.calls.load(() => get("/api/agents/{agent}/calls", { agent, limit: LIMIT }));
    void this.usage.load(() => get("/api/agents/{agent}/usage", { agent }));
  }

  #apply(event: StreamEvent): void {
    if (event.type === "turn_created" && this.turns.value) {
      const turn = event.data as unknown as Turn;
      const others = this.turns.value.filter((each) => each.turn_id !== turn.turn_id);
      this.turns.value = [...others, turn].slice(-LIMIT);
    }
    if (event.type === "turn_updated" && this.turns.value) {
      const change = event.data as unknown as Turn;
      this.turns.value = this.turns.value.map((turn) => (turn.turn_id === change.turn_id ? { ...turn, ...change } : turn));
    }
    if (event.type === "state_changed" && this.states.value) {
      this.states.value = [...this.states.value, stateChange(event)].slice(-LIMIT);
    }
  }
}

function stateChange(event: StreamEvent): StateChange {
  const data = event.data as unknown as Pick<Agent, "evidence" | "state" | "waiting_for"> & { changes: Partial<Agent> };
  return {
    seq: event.id ?? 0,
    at: data.changes.state_since ?? data.evidence?.at ?? "",
    state: data.state,
    waiting_for: data.waiting_for,
    source: data.evidence?.source ?? "",
    confidence: data.evidence?.confidence ?? "",
    why: data.evidence?.why ?? "",
    event: "just now",
  };
}
