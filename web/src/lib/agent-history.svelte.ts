// The history of one agent: conversation, state changes, tool calls and usage. Loaded when a view opens, then updated by
// the stream. Tool calls and usage are not in the stream: after events of the agent the newest ones are loaded again.
import { ApiError, get } from "./api";
import { board } from "./board.svelte";
import { mergeCalls, updateStart } from "./conversation-merge";
import { ConversationPages, type Place } from "./conversation-pages.svelte";
import { Resource, throttle } from "./resource.svelte";
import type { StreamEvent } from "./stream-events";
import type { Agent, ConversationPage, StateChange, ToolCall, Turn, UsageSample } from "./types";

/** How many of the newest states and tool calls are kept, for the summaries beside the conversation. */
const LIMIT = 500;
/** How much is loaded after events: pages of turns at the end of the conversation, or only calls if another part of it is shown. */
const UPDATE_TURNS = 100;
const UPDATE_CALLS = 50;
const RELOAD_MILLISECONDS = 1_000;

export class AgentHistory {
  readonly conversation: ConversationPages;
  readonly states = new Resource<StateChange[]>();
  readonly calls = new Resource<ToolCall[]>();
  readonly usage = new Resource<UsageSample[]>();

  /** The number of reloads of the board when this was loaded. */
  #reloads = board.reloads;

  constructor(private readonly agent: string) {
    this.conversation = new ConversationPages(agent);
  }

  /** Load everything, the conversation at a place, and follow the stream. Returns a function that stops following. */
  follow(place: Place = {}): () => void {
    const agent = this.agent;
    void this.conversation.open(place);
    this.#load();
    const reload = throttle(RELOAD_MILLISECONDS, () => void this.#update());
    return board.subscribe((events) => {
      const own = events.filter((event) => event.data.agent_id === agent);
      for (const event of own) this.#apply(event);
      if (own.length > 0) reload();
    });
  }

  /** Load again what may have been missed. The conversation keeps its place. */
  reload(reloads: number, place: Place = {}): void {
    if (reloads === this.#reloads) return;
    this.#reloads = reloads;
    this.#load();
    if (this.conversation.isLoaded) void this.#update();
    else void this.conversation.open(place);
  }

  #load(): void {
    const agent = this.agent;
    void this.states.load(() => get("/api/agents/{agent}/evidence", { agent, limit: LIMIT }));
    void this.calls.load(() => get("/api/agents/{agent}/calls", { agent, limit: LIMIT }));
    void this.usage.load(() => get("/api/agents/{agent}/usage", { agent }));
  }

  async #update(): Promise<void> {
    const agent = this.agent;
    void this.usage.load(() => get("/api/agents/{agent}/usage", { agent }));
    try {
      await this.#loadNewest();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the next event tries again, and a lost connection reloads everything
    }
  }

  async #loadNewest(): Promise<void> {
    const agent = this.agent;
    if (!this.conversation.hasEnd) {
      this.#addCalls(await get("/api/agents/{agent}/calls", { agent, limit: UPDATE_CALLS }));
      return;
    }
    let after: string | null | undefined = updateStart(this.conversation.turns, this.conversation.calls);
    do {
      const page: ConversationPage = await get("/api/agents/{agent}/conversation", { agent, after, limit: UPDATE_TURNS });
      this.#addCalls(page.calls);
      this.conversation.update(page);
      after = page.after;
    } while (after !== null);
  }

  #addCalls(calls: ToolCall[]): void {
    if (this.calls.value) this.calls.value = mergeCalls(this.calls.value, calls).slice(-LIMIT);
  }

  #apply(event: StreamEvent): void {
    if (event.type === "turn_created") this.conversation.receive(event.data as unknown as Turn);
    if (event.type === "turn_updated") this.conversation.correct(event.data as unknown as Turn);
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
