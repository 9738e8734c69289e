// The board as rows of known height, so that only those in sight are made. Pure.
import type { Agent, State } from "./types";
import type { Section } from "./arrange";

export const CARD_HEIGHT = 80;
export const HEADER_HEIGHT = 44;
export const GAP = 8;
export const SUBAGENT_HEIGHT = 20;
export const SUBAGENTS_SHOWN = 3;

export interface HeaderRow {
  kind: "header";
  key: string;
  title: string;
  state: State | null;
  count: number;
  height: number;
}

export interface CardRow {
  kind: "cards";
  key: string;
  agents: Agent[];
  height: number;
}

export type Row = HeaderRow | CardRow;

/** A card is taller by the sub-agents that it shows; the last line tells of those that it does not. */
export function cardHeight(agent: Agent): number {
  const lines = Math.min(agent.subagents.length, SUBAGENTS_SHOWN + 1);
  return CARD_HEIGHT + lines * SUBAGENT_HEIGHT;
}

export function rowsOf(sections: Section[], columns: number, withHeaders = true): Row[] {
  return sections.flatMap((section) => [...(withHeaders ? [header(section)] : []), ...cards(section, columns)]);
}

function header(section: Section): HeaderRow {
  const { key, title, state, agents } = section;
  return { kind: "header", key: `header ${key}`, title, state, count: agents.length, height: HEADER_HEIGHT };
}

function cards(section: Section, columns: number): CardRow[] {
  const rows: CardRow[] = [];
  for (let at = 0; at < section.agents.length; at += columns) {
    const agents = section.agents.slice(at, at + columns);
    const height = Math.max(...agents.map(cardHeight)) + GAP;
    rows.push({ kind: "cards", key: `${section.key} ${at / columns}`, agents, height });
  }
  return rows;
}

export interface Slice {
  from: number;
  to: number;
  before: number;
  after: number;
}

/** Which rows are in sight, and how much room the others take. */
export function inSight(heights: number[], top: number, viewport: number, margin = 300): Slice {
  let [from, before, offset] = [0, 0, 0];
  let to = heights.length;
  let total = 0;
  for (const height of heights) total += height;
  for (let at = 0; at < heights.length; at += 1) {
    const height = heights[at]!;
    if (offset + height < top - margin) [from, before] = [at + 1, offset + height];
    if (offset > top + viewport + margin) {
      to = at;
      break;
    }
    offset += height;
  }
  let shown = 0;
  for (let at = from; at < to; at += 1) shown += heights[at]!;
  return { from, to, before, after: Math.max(total - before - shown, 0) };
}
