// The entries of the command palette, and which of them match what was typed. Pure.
import { compareAgents } from "./board-layout";
import type { Outcome, Question } from "./actions";
import { MATCH_WITHIN, matchScore, NO_MATCH, WEAK_MATCH } from "./fuzzy";
import type { Agent, State } from "./types";

export interface Entry {
  id: string;
  group: string;
  title: string;
  detail: string;
  keys: readonly string[];
  /** Why it is not possible now; empty if it is. */
  problem: string;
  /** The state of an agent. */
  state: State | null;
  /** Before all others of its group. */
  isUrgent: boolean;
  asks: Question | null;
  /** The palette stays open and shows what happened. */
  staysOpen: boolean;
  run: (text: string) => Outcome;
}

export type EntryParts = Pick<Entry, "id" | "group" | "title" | "run"> & Partial<Entry>;

export const entry = (parts: EntryParts): Entry => ({ detail: "", keys: [], problem: "", state: null, isUrgent: false, asks: null, staysOpen: false, ...parts });

/** How many entries of a group are shown before something is typed (all of other groups), and then. */
const MAX_UNTYPED: Record<string, number> = { Agents: 6 };
const MANY = 20;

/** The agents as entries: those that need the user first. */
export function agentEntries(agents: Agent[], open: (agent: Agent) => void): Entry[] {
  return agents.toSorted((a, b) => Number(needsUser(b)) - Number(needsUser(a)) || compareAgents(a, b)).map((agent) =>
    entry({
      id: `agent ${agent.id}`,
      group: "Agents",
      title: agent.name,
      detail: [agent.project.name, agent.branch].filter(Boolean).join(" · "),
      state: agent.state,
      isUrgent: needsUser(agent),
      run: () => open(agent),
    }),
  );
}

const needsUser = (agent: Agent): boolean => agent.state === "waiting" || agent.state === "error" || agent.unseen;

/**
 * The entries that match. Groups with a better match come first; within a group the urgent entries, then the best matches.
 * Letters that are scattered over a text count only if nothing matches better.
 */
export function matchingEntries(entries: Entry[], typed: string): Entry[] {
  const isTyped = typed.trim() !== "";
  const scored = entries.map((each) => ({ each, score: score(typed, each) }));
  const least = scored.some(({ score }) => score > WEAK_MATCH) ? WEAK_MATCH : NO_MATCH;
  const found = scored.filter(({ score }) => score > least);
  const best = (list: Scored[]): number => Math.max(...list.map(({ score }) => score));
  const groups = [...Map.groupBy(found, ({ each }) => each.group).values()].toSorted((a, b) => best(b) - best(a));
  return groups.flatMap((group) => {
    const sorted = group.toSorted((a, b) => Number(b.each.isUrgent) - Number(a.each.isUrgent) || b.score - a.score);
    return sorted.slice(0, isTyped ? MANY : MAX_UNTYPED[sorted[0]!.each.group]).map(({ each }) => each);
  });
}

interface Scored {
  each: Entry;
  score: number;
}

/** A detail counts less than a title, and not by scattered letters. */
function score(typed: string, { title, detail }: Entry): number {
  const inTitle = matchScore(typed, title);
  return matchScore(typed, `${title} ${detail}`) > WEAK_MATCH ? Math.max(inTitle, MATCH_WITHIN) : inTitle;
}
