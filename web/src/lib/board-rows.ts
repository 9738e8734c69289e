// The board as rows of known height, so that only visible rows are rendered. Pure.
import type { Section } from "./board-layout";
import type { Agent, State } from "./types";

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

/** A card has a line for each sub-agent that it shows, and one for the number of those that it does not show. */
export function cardHeight(agent: Agent): number {
  const lines = Math.min(agent.subagents.length, SUBAGENTS_SHOWN + 1);
  return CARD_HEIGHT + lines * SUBAGENT_HEIGHT;
}

export function boardRows(sections: Section[], columns: number, withHeaders = true): Row[] {
  return sections.flatMap((section) => [...(withHeaders ? [headerRow(section)] : []), ...cardRows(section, columns)]);
}

function headerRow(section: Section): HeaderRow {
  const { key, title, state, agents } = section;
  return { kind: "header", key: `header ${key}`, title, state, count: agents.length, height: HEADER_HEIGHT };
}

function cardRows(section: Section, columns: number): CardRow[] {
  const rows: CardRow[] = [];
  for (let start = 0; start < section.agents.length; start += columns) {
    const agents = section.agents.slice(start, start + columns);
    const height = Math.max(...agents.map(cardHeight)) + GAP;
    rows.push({ kind: "cards", key: `${section.key} ${start / columns}`, agents, height });
  }
  return rows;
}

/** Names of the cards in a row. A card that moves to another section gets another name: the view does not follow it. */
export function cardAnchors(row: Row): string[] {
  return row.kind === "cards" ? row.agents.map((agent) => `${agent.id} ${agent.state}`) : [];
}

interface AnchoredRow {
  anchors: string[];
  height: number;
}

/** The scroll position that keeps the first visible item in its place when the rows change. At the top, the view stays there. */
export function anchoredPosition(before: AnchoredRow[], after: AnchoredRow[], top: number, viewport: number): number {
  if (top <= 0) return top;
  const starts = new Map<string, number>();
  eachStart(after, (row, start) => row.anchors.forEach((name) => starts.set(name, start)));
  let position: number | null = null;
  eachStart(before, (row, start) => {
    const isVisible = start >= top && start < top + viewport;
    const name = isVisible && position === null ? row.anchors.find((each) => starts.has(each)) : undefined;
    if (name !== undefined) position = top + starts.get(name)! - start;
  });
  return position ?? top;
}

function eachStart(rows: AnchoredRow[], call: (row: AnchoredRow, start: number) => void): void {
  let start = 0;
  for (const row of rows) {
    call(row, start);
    start += row.height;
  }
}

export interface VisibleRange {
  from: number;
  to: number;
  /** The height of the rows before and after the visible ones. */
  before: number;
  after: number;
}

/** The rows that are visible, with a margin. */
export function visibleRange(heights: number[], top: number, viewport: number, margin = 300): VisibleRange {
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
