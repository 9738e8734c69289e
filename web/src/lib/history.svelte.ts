// What an agent's page keeps beside the board: what was said and done, the states, the measurements. Read when the page
// opens, kept up by the stream, read anew after a gap.
import { get } from "./api";
import type { Told } from "./apply";
import { board } from "./board.svelte";
import { Loaded, throttled } from "./loaded.svelte";
import type { Agent, Call, Measure, StateChange, Turn } from "./types";

const MOST = 500;
const REST = 1_000;

export class History {
  readonly turns = new Loaded<Turn[]>();
  readonly states = new Loaded<StateChange[]>();
  readonly calls = new Loaded<Call[]>();
  readonly usage = new Loaded<Measure[]>();

  constructor(private readonly id: string) {}

  /** Read everything, and follow the stream until told to stop. */
  follow(): () => void {
    void this.load();
    const again = throttled(REST, () => void this.#loadDone());
    return board.subscribe((told) => this.#hear(told, again));
  }

  async load(): Promise<void> {
    const path = `/api/agents/${encodeURIComponent(this.id)}`;
    await Promise.all([
      this.turns.load(() => get<Turn[]>(`${path}/turns`, { limit: MOST })),
      this.states.load(() => get<StateChange[]>(`${path}/evidence`, { limit: MOST })),
      this.#loadDone(),
    ]);
  }

  async #loadDone(): Promise<void> {
    const path = `/api/agents/${encodeURIComponent(this.id)}`;
    await Promise.all([
      this.calls.load(() => get<Call[]>(`${path}/calls`, { limit: MOST })),
      this.usage.load(() => get<Measure[]>(`${path}/usage`)),
    ]);
  }

  #hear(told: Told[], again: () => void): void {
    const ours = told.filter((each) => each.data.agent_id === this.id);
    if (ours.length === 0) return;
    for (const each of ours) this.#apply(each);
    again();
  }

  #apply(told: Told): void {
    if (told.type === "turn_created" && this.turns.value) {
      const turn = told.data as unknown as Turn;
      const others = this.turns.value.filter((each) => each.turn_id !== turn.turn_id);
      this.turns.value = [...others, turn].slice(-MOST);
    }
    if (told.type === "turn_updated" && this.turns.value) {
      const change = told.data as unknown as Turn;
      this.turns.value = this.turns.value.map((each) => (each.turn_id === change.turn_id ? { ...each, ...change } : each));
    }
    if (told.type === "state_changed" && this.states.value) {
      this.states.value = [...this.states.value, stateChange(told)].slice(-MOST);
    }
  }
}

function stateChange(told: Told): StateChange {
  const data = told.data as unknown as { evidence: Agent["evidence"]; state: Agent["state"]; waiting_for: string | null };
  const changes = told.data.changes as Partial<Agent>;
  return {
    seq: told.id ?? 0,
    at: changes.state_since ?? data.evidence?.at ?? "",
    state: data.state,
    waiting_for: data.waiting_for,
    source: data.evidence?.source ?? "",
    confidence: data.evidence?.confidence ?? "",
    why: data.evidence?.why ?? "",
    event: "just now",
  };
}
