// The store of all agents, and the only source of agent state on the page. It is filled by `GET /api/agents` and
// updated by the stream. Events that arrive within one frame are applied together. A `gap` event reloads everything.
//
// The cost of an event must not grow with the number of agents: lists and counts use `layoutAgents`, which changes only
// when a card moves or a count changes; a card uses its own agent.
import { ApiError, get, isSignedOut } from "./api";
import { hasSameLayout } from "./board-layout";
import { clients } from "./clients.svelte";
import { guards } from "./guards.svelte";
import { parseVisible } from "./hidden-characters";
import type { SseMessage } from "./sse-parser";
import { followStream, type Connection } from "./stream";
import { applyEvent, type StreamEvent } from "./stream-events";
import { learnTools } from "./text";
import type { Agent } from "./types";

const RETRY_MILLISECONDS = 2_000;

type Subscriber = (events: StreamEvent[]) => void;

class Board {
  agents = $state.raw<ReadonlyMap<string, Agent>>(new Map());
  /** The agents as of the last change that affects layout or counts. Other fields may be outdated: see `latest`. */
  layoutAgents = $state.raw<Agent[]>([]);
  connection = $state<Connection>("connecting");
  isLoaded = $state(false);
  error = $state.raw<ApiError | null>(null);
  version = $state("");
  /** The sequence number of the last event that was applied. */
  seq = $state.raw(0);
  /** When the connection was lost; null while there is one. */
  offlineSince = $state<number | null>(null);
  /** Incremented whenever events may have been missed. Views that load other data read it to load that again. */
  reloads = $state(0);

  #pending: StreamEvent[] = [];
  #isScheduled = false;
  #stop: (() => void) | null = null;
  #subscribers = new Set<Subscriber>();
  #isReloading = false;

  async start(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#fail(error);
      if (this.connection !== "signed out") setTimeout(() => void this.start(), RETRY_MILLISECONDS);
      return;
    }
    this.#stop ??= followStream({
      onConnection: (connection) => this.#setConnection(connection),
      onMessages: (messages) => this.#enqueue(messages),
      lastEventId: () => this.#pending.at(-1)?.id ?? this.seq,
    });
  }

  /** Call `subscriber` with events after they were applied. Returns a function that unsubscribes. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Load an agent that is not on the board, for example one that ended long ago. */
  async fetchAgent(reference: string): Promise<void> {
    const agent = await get("/api/agents/{agent}", { agent: reference });
    this.#update(new Map(this.agents).set(agent.id, agent), [agent.id]);
  }

  /** An agent by id or name. Null if it is not loaded. */
  find(reference: string): Agent | null {
    return this.agents.get(reference) ?? [...this.agents.values()].find((agent) => agent.name === reference) ?? null;
  }

  /** The current data of an agent from `layoutAgents`. */
  latest(agent: Agent): Agent {
    return this.agents.get(agent.id) ?? agent;
  }

  #update(agents: Map<string, Agent>, changedIds: string[]): void {
    const before = this.agents;
    this.agents = agents;
    if (!changedIds.every((id) => hasSameLayout(before.get(id), agents.get(id)))) this.layoutAgents = [...agents.values()].filter((agent) => !agent.archived);
  }

  #setConnection(connection: Connection): void {
    if (connection === "live") guards.reset();
    if (connection === "offline") this.offlineSince ??= Date.now();
    else if (connection === "live" && this.offlineSince !== null) {
      this.offlineSince = null;
      this.reloads += 1;
    }
    this.connection = connection;
  }

  #fail(error: unknown): void {
    this.error = error instanceof ApiError ? error : new ApiError(0, "bug", String(error), "Reload the page.");
    this.connection = isSignedOut(error) ? "signed out" : "offline";
  }

  /** The position is read before the agents: the stream repeats what happens in between, and nothing is missed. */
  async #load(): Promise<void> {
    const status = await get("/hook/status", {});
    const [agents, supported, tools] = await Promise.all([get("/api/agents", {}), get("/api/clients", {}), get("/api/tools", {})]);
    if (status.last_seq === null) throw new ApiError(503, "journal_unavailable", "The database is unavailable.", "See `headspace status`.");
    clients.all = supported;
    learnTools(tools);
    this.version = status.version;
    this.seq = status.last_seq;
    this.agents = new Map(agents.map((agent) => [agent.id, agent]));
    this.layoutAgents = agents;
    this.error = null;
    this.isLoaded = true;
    this.reloads += 1;
  }

  #enqueue(messages: SseMessage[]): void {
    for (const { id, type, data } of messages) {
      if (type === "guards_changed") guards.update(data);
      else this.#pending.push({ id, type, data: parseVisible(data) as StreamEvent["data"] });
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A hidden page gets no animation frames, but its title and icon must stay current.
    if (document.hidden) setTimeout(() => this.#flush(), 50);
    else requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const gap = this.#pending.findLastIndex((event) => event.type === "gap");
    if (gap !== -1) {
      this.#pending = this.#pending.slice(gap + 1);
      void this.#reload();
    }
    const events = this.#pending;
    if (events.length === 0 || this.#isReloading) return;
    this.#pending = [];
    const agents = new Map(this.agents);
    for (const event of events) applyEvent(agents, event, (id) => void this.#fetchUnknown(id));
    this.#update(agents, events.flatMap(({ data }) => data.agent_id ?? []));
    this.seq = events.at(-1)?.id ?? this.seq;
    for (const subscriber of this.#subscribers) subscriber(events);
  }

  /** Load everything again. Events that arrive during the request are applied afterwards. */
  async #reload(): Promise<void> {
    this.#isReloading = true;
    try {
      await this.#load();
    } catch (error) {
      if (isSignedOut(error)) this.#fail(error);
      else setTimeout(() => void this.#reload(), RETRY_MILLISECONDS);
      return;
    }
    this.#isReloading = false;
    this.#pending = this.#pending.filter((event) => event.id === null || event.id > this.seq);
    this.#flush();
  }

  /** An event names an agent that is not on the board. If it cannot be loaded, its next event tries again. */
  async #fetchUnknown(id: string): Promise<void> {
    try {
      await this.fetchAgent(id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

export const board = new Board();
