// The clients that Headspace supports: their titles, and what each cannot do. Loaded with the board. A client that is not
// in the list keeps its name, and is offered everything.
import type { Agent, Client } from "./types";

export type Capability = "answer_permission" | "answer_question" | "deny_message" | "decline_message" | "grant" | "edit_input" | "send" | "keep_draft" | "interrupt" | "changes" | "subagents" | "stop" | "resume" | "fork";

class Clients {
  all = $state.raw<Client[]>([]);

  title(name: string): string {
    return this.#find(name)?.title ?? name;
  }

  /** At most 8 characters, for cards and lists. */
  shortTitle(name: string): string {
    return this.#find(name)?.short_title ?? name;
  }

  /** Why the client of an agent cannot do something, as a sentence; empty if it can. */
  limit(agent: Pick<Agent, "client">, capability: Capability): string {
    const found = this.#find(agent.client)?.capabilities.find((each) => each.name === capability);
    return found === undefined || found.supported ? "" : found.text;
  }

  /** Everything that a client cannot do. */
  limits(name: string): string[] {
    const texts = (this.#find(name)?.capabilities ?? []).filter((each) => !each.supported).map((each) => each.text);
    return [...new Set(texts)];
  }

  #find(name: string): Client | undefined {
    return this.all.find((client) => client.name === name);
  }
}

export const clients = new Clients();
