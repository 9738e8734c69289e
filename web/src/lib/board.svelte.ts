// The one store. Everything on the page that tells a state reads it from here, and it holds nothing but what the API
// said: `GET /api/agents`, then the changes of the stream, each applied to a copy of the agent that it is about. What
// arrives within a frame is applied together. After a `gap` everything is read anew.
import { ApiError, get, isSignedOut } from "./api";
import { apply, type Told } from "./apply";
import type { Message } from "./frames";
import { follow, type Link } from "./stream";
import type { Agent, HookStatus } from "./types";

type Subscriber = (told: Told[]) => void;

class Board {
  agents = $state.raw<ReadonlyMap<string, Agent>>(new Map());
  link = $state<Link>("connecting");
  loaded = $state(false);
  problem = $state.raw<ApiError | null>(null);
  version = $state("");
  /** The newest announcement that was applied. */
  seq = $state.raw(0);
  /** Counts the times that everything was read anew: whoever keeps more than the board reads that anew too. */
  generation = $state(0);

  #pending: Told[] = [];
  #scheduled = false;
  #stop: (() => void) | null = null;
  #subscribers = new Set<Subscriber>();
  #loading: Promise<void> | null = null;

  async start(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#failed(error);
      if (this.link !== "signed out") setTimeout(() => void this.start(), 2_000);
      return;
    }
    this.#stop ??= follow({
      link: (link) => (this.link = link),
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
    this.agents = new Map(this.agents).set(agent.id, agent);
  }

  #failed(error: unknown): void {
    this.problem = error instanceof ApiError ? error : new ApiError(0, "bug", String(error), "Reload the page.");
    this.link = isSignedOut(error) ? "signed out" : "offline";
  }

  /** The position is read first: what happens in between is told again by the stream, and nothing is missed. */
  async #load(): Promise<void> {
    const status = await get<HookStatus>("/hook/status");
    const agents = await get<Agent[]>("/api/agents");
    this.#pending = [];
    this.version = status.version;
    this.seq = status.last_seq;
    this.agents = new Map(agents.map((agent) => [agent.id, agent]));
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
    const told = this.#pending;
    this.#pending = [];
    if (told.length === 0) return;
    if (told.some((each) => each.type === "gap")) {
      this.#loading ??= this.#load()
        .catch((error: unknown) => this.#failed(error))
        .finally(() => (this.#loading = null));
      return;
    }
    const agents = new Map(this.agents);
    for (const each of told) apply(agents, each, (id) => void this.#fetch(id));
    this.agents = agents;
    this.seq = told.at(-1)?.id ?? this.seq;
    for (const subscriber of this.#subscribers) subscriber(told);
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
