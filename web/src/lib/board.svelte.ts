// The one store. Everything on the page that tells a state reads it from here, and it holds nothing but what the API
// said: `GET /api/agents`, then the changes of the stream, each applied to a copy of the agent that it is about. What
// arrives within a frame is applied together. After a `gap` everything is read anew.
//
// An event costs what changes by it, not what is there: lists and numbers follow `placed`, which stays the same until
// something moves; a card follows its own agent.
import { ApiError, get, isSignedOut } from "./api";
import { apply, type Told } from "./apply";
import { isPlacedAlike } from "./arrange";
import type { Message } from "./frames";
import { follow, type Link } from "./stream";
import type { Agent, HookStatus } from "./types";

/** Between two tries to read the board, in milliseconds. */
const AGAIN = 2_000;

type Subscriber = (told: Told[]) => void;

class Board {
  agents = $state.raw<ReadonlyMap<string, Agent>>(new Map());
  /** The agents as of when one of them was last moved, counted or named anew. Their other fields may be older. */
  placed = $state.raw<Agent[]>([]);
  link = $state<Link>("connecting");
  loaded = $state(false);
  problem = $state.raw<ApiError | null>(null);
  version = $state("");
  /** The newest announcement that was applied. */
  seq = $state.raw(0);
  /** When the daemon was last heard of before it went away. */
  awaySince = $state<number | null>(null);
  /** Counts the times that something may have been missed: whoever keeps more than the board reads that anew. */
  generation = $state(0);

  #pending: Told[] = [];
  #scheduled = false;
  #stop: (() => void) | null = null;
  #subscribers = new Set<Subscriber>();
  #isReloading = false;

  async start(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#failed(error);
      if (this.link !== "signed out") setTimeout(() => void this.start(), AGAIN);
      return;
    }
    this.#stop ??= follow({
      link: (link) => this.#linked(link),
      messages: (messages) => this.#take(messages),
      position: () => this.#pending.at(-1)?.id ?? this.seq,
    });
  }

  /** Hear of announcements after they were applied. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Bring in an agent that the board does not list, such as one that ended long ago. */
  put(agent: Agent): void {
    this.#show(new Map(this.agents).set(agent.id, agent), [agent.id]);
  }

  /** The newest that is known of an agent that is placed. */
  newest(agent: Agent): Agent {
    return this.agents.get(agent.id) ?? agent;
  }

  #show(agents: Map<string, Agent>, touched: string[]): void {
    const before = this.agents;
    this.agents = agents;
    if (!touched.every((id) => isPlacedAlike(before.get(id), agents.get(id)))) this.placed = [...agents.values()];
  }

  #linked(link: Link): void {
    if (link === "offline") this.awaySince ??= Date.now();
    else if (link === "live" && this.awaySince !== null) {
      this.awaySince = null;
      this.generation += 1;
    }
    this.link = link;
  }

  #failed(error: unknown): void {
    this.problem = error instanceof ApiError ? error : new ApiError(0, "bug", String(error), "Reload the page.");
    this.link = isSignedOut(error) ? "signed out" : "offline";
  }

  /** The position is read first: what happens in between is told again by the stream, and nothing is missed. */
  async #load(): Promise<void> {
    const status = await get<HookStatus>("/hook/status");
    const agents = await get<Agent[]>("/api/agents");
    if (status.last_seq === null) throw new ApiError(503, "journal_unavailable", "The database is away.", "See `headspace status`.");
    this.version = status.version;
    this.seq = status.last_seq;
    this.agents = new Map(agents.map((agent) => [agent.id, agent]));
    this.placed = agents;
    this.problem = null;
    this.loaded = true;
    this.generation += 1;
  }

  #take(messages: Message[]): void {
    for (const { id, type, data } of messages) {
      this.#pending.push({ id, type, data: JSON.parse(data) as Told["data"] });
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A page that nobody sees gets no frames, but its title and icon must still tell.
    if (document.hidden) setTimeout(() => this.#flush(), 50);
    else requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const gap = this.#pending.findLastIndex((each) => each.type === "gap");
    if (gap !== -1) {
      this.#pending = this.#pending.slice(gap + 1);
      void this.#reload();
    }
    const told = this.#pending;
    if (told.length === 0 || this.#isReloading) return;
    this.#pending = [];
    const agents = new Map(this.agents);
    for (const each of told) apply(agents, each, (id) => void this.#fetch(id));
    this.#show(agents, told.flatMap(({ data }) => data.agent_id ?? []));
    this.seq = told.at(-1)?.id ?? this.seq;
    for (const subscriber of this.#subscribers) subscriber(told);
  }

  /** Everything anew; what is told meanwhile is kept, and applied afterwards. */
  async #reload(): Promise<void> {
    this.#isReloading = true;
    try {
      await this.#load();
    } catch (error) {
      if (isSignedOut(error)) this.#failed(error);
      else setTimeout(() => void this.#reload(), AGAIN);
      return;
    }
    this.#isReloading = false;
    this.#pending = this.#pending.filter((each) => each.id === null || each.id > this.seq);
    this.#flush();
  }

  /** An agent that was not on the board, and is heard of again. */
  async #fetch(id: string): Promise<void> {
    try {
      this.put(await get<Agent>(`/api/agents/${id}`));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

export const board = new Board();
