// The changes of an agent, or of one of its commands. Loaded when the view opens. Later changes are loaded, but shown
// only on request, so that nothing moves while someone is reading. Paths stay exact, because a file is requested by its
// path; hidden characters get their marks where they are shown.
import { SvelteSet } from "svelte/reactivity";
import { getExact } from "./api";
import { board } from "./board.svelte";
import { Resource, throttle } from "./resource.svelte";
import type { ChangedFile, Changes } from "./types";

const RELOAD_MILLISECONDS = 5_000;

export class AgentChanges {
  readonly shown = new Resource<Changes>();
  /** The last request for a complete file. */
  readonly file = new Resource<void>();
  readonly loadedFiles = new SvelteSet<string>();
  readonly #newest = new Resource<Changes>();
  hasNewer = $derived(this.shown.value !== null && this.#newest.value !== null && differ(this.shown.value, this.#newest.value));

  constructor(
    private readonly agent: string,
    private readonly command: string | null,
  ) {}

  /** Load the changes and follow the stream. Returns a function that stops following. */
  follow(): () => void {
    const load = (): void => void (this.shown.value?.files.length ? this.#newest : this.shown).load(() => this.#request());
    load();
    const reload = throttle(RELOAD_MILLISECONDS, load);
    return board.subscribe((events) => {
      if (events.some((event) => event.data.agent_id === this.agent)) reload();
    });
  }

  showNewest(): void {
    if (this.#newest.value) this.shown.value = this.#newest.value;
    this.#newest.clear();
    this.loadedFiles.clear();
  }

  /** Replace a truncated file by the complete one. */
  loadFile(path: string): void {
    void this.file.load(() => this.#replaceFile(path));
  }

  async #replaceFile(path: string): Promise<void> {
    const changes = await this.#request(path);
    this.loadedFiles.add(path);
    const complete = changes.files.find((file) => file.path === path);
    const current = this.shown.value;
    if (!complete || !current) return;
    const files = current.files.map((file): ChangedFile => (file.path === path ? complete : file));
    const left_out = files.reduce((sum, file) => sum + file.left_out, 0);
    this.shown.value = { ...current, files, left_out, complete: files.every((file) => file.complete) };
  }

  #request(files: string | null = null): Promise<Changes> {
    return getExact("/api/agents/{agent}/changes", { agent: this.agent, command: this.command, files });
  }
}

/** Whether two versions of the changes show different things. */
function differ(one: Changes, other: Changes): boolean {
  if (one.commits.length !== other.commits.length || one.files.length !== other.files.length) return true;
  return one.files.some((file, index) => filesDiffer(file, other.files[index]!));
}

/** A file that was loaded completely is the same as its truncated version. */
function filesDiffer(one: ChangedFile, other: ChangedFile): boolean {
  if (one.path !== other.path || one.added !== other.added || one.removed !== other.removed) return true;
  return one.complete && other.complete && one.diff !== other.diff;
}
