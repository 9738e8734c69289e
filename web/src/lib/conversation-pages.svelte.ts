// The loaded part of an agent's conversation: a range of time without gaps. It grows by pages at both ends, and by the
// stream while it includes the end. Far from the place that is read it is cut again, so that memory stays bounded.
//
// Pages are time ranges: the cursor at an end of the range is the time of the first turn beyond it, so the range can be
// cut at any turn.
import { ApiError, get } from "./api";
import { mergeCalls, mergeTurns } from "./conversation-merge";
import type { ConversationPage, ToolCall, Turn } from "./types";

/** Which page to show: around a turn or a time, before or from a time; the newest if nothing is given. */
export interface Place {
  around?: string;
  at?: string;
  before?: string;
  after?: string;
}

export type Direction = "before" | "after";

export const BEGINNING: Place = { after: "1970-01-01T00:00:00+00:00" };
/** More turns than this are not kept. */
const MAX_TURNS = 800;

export class ConversationPages {
  turns = $state.raw<Turn[]>([]);
  calls = $state.raw<ToolCall[]>([]);
  isLoaded = $state(false);
  error = $state.raw<ApiError | null>(null);
  /** The cursors of the pages beyond both ends; null at the beginning or the end of the conversation. */
  cursors = $state.raw<Record<Direction, string | null>>({ before: null, after: null });
  /** The pages that are being loaded, and those that could not be loaded. */
  loading = $state.raw<Record<Direction, boolean>>({ before: false, after: false });
  failed = $state.raw<Record<Direction, ApiError | null>>({ before: null, after: null });
  /** How many turns arrived since `arrived` was set to 0. */
  arrived = $state(0);
  /** Incremented when another place was loaded. */
  jumps = $state(0);
  #place = 0;

  constructor(private readonly agent: string) {}

  /** Whether the end of the conversation is loaded: new turns are shown. */
  get hasEnd(): boolean {
    return this.isLoaded && this.cursors.after === null;
  }

  /** Whether a time is in the loaded range. */
  covers(time: string): boolean {
    const { before, after } = this.cursors;
    return this.isLoaded && (before === null || Date.parse(time) >= Date.parse(before)) && (after === null || Date.parse(time) < Date.parse(after));
  }

  hasTurn(id: string): boolean {
    return this.turns.some((turn) => turn.turn_id === id);
  }

  /** Show another place of the conversation. Returns whether it is shown. */
  async open(place: Place): Promise<boolean> {
    const number = (this.#place += 1);
    this.loading = { before: false, after: false };
    this.failed = { before: null, after: null };
    try {
      const page = await get("/api/agents/{agent}/conversation", { agent: this.agent, ...place });
      if (number !== this.#place) return false;
      [this.turns, this.calls, this.error, this.isLoaded] = [page.turns, page.calls, null, true];
      this.cursors = { before: page.before, after: page.after };
      if (page.after === null) this.arrived = 0;
      this.jumps += 1;
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (number === this.#place) this.error = error;
      return false;
    }
  }

  /** Load the page beyond one end, unless it is being loaded or there is none. */
  async extend(direction: Direction): Promise<void> {
    const [number, cursor] = [this.#place, this.cursors[direction]];
    if (cursor === null || this.loading[direction] || this.failed[direction]) return;
    this.loading = { ...this.loading, [direction]: true };
    try {
      const page = await get("/api/agents/{agent}/conversation", { agent: this.agent, [direction]: cursor });
      if (number === this.#place && this.cursors[direction] === cursor) this.#add(page, direction);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (number === this.#place) this.failed = { ...this.failed, [direction]: error };
    }
    if (number === this.#place) this.loading = { ...this.loading, [direction]: false };
  }

  retry(direction: Direction): void {
    this.failed = { ...this.failed, [direction]: null };
    void this.extend(direction);
  }

  #add(page: ConversationPage, direction: Direction): void {
    this.turns = mergeTurns(this.turns, page.turns);
    this.calls = mergeCalls(this.calls, page.calls);
    this.cursors = { ...this.cursors, [direction]: page[direction] };
    if (direction === "before") this.#cutEnd();
    else this.#cutBeginning();
  }

  /** A turn arrived or was corrected. */
  receive(turn: Turn): void {
    const isKnown = this.hasTurn(turn.turn_id);
    if (!isKnown) this.arrived += 1;
    if (isKnown || this.hasEnd) this.turns = mergeTurns(this.turns, [turn]);
  }

  correct(change: Partial<Turn> & Pick<Turn, "turn_id">): void {
    const known = this.turns.find((turn) => turn.turn_id === change.turn_id);
    if (known) this.turns = mergeTurns(this.turns, [{ ...known, ...change }]);
  }

  /** Take over the newest turns and calls, if the end is loaded. */
  update(page: ConversationPage): void {
    if (!this.hasEnd) return;
    this.turns = mergeTurns(this.turns, page.turns);
    this.calls = mergeCalls(this.calls, page.calls);
    this.#cutBeginning();
  }

  #cutBeginning(): void {
    const first = this.turns.at(-MAX_TURNS);
    if (this.turns.length <= MAX_TURNS || first === undefined) return;
    this.turns = this.turns.filter((turn) => turn.timestamp >= first.timestamp);
    this.calls = this.calls.filter((call) => call.started_at >= first.timestamp);
    this.cursors = { ...this.cursors, before: first.timestamp };
  }

  #cutEnd(): void {
    const next = this.turns[MAX_TURNS];
    if (next === undefined) return;
    this.turns = this.turns.filter((turn) => turn.timestamp < next.timestamp);
    this.calls = this.calls.filter((call) => call.started_at < next.timestamp);
    this.cursors = { ...this.cursors, after: next.timestamp };
  }
}
