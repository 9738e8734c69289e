// Something that is fetched: loading, there, or failed with a reason. The newest question wins.
import { ApiError } from "./api";

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<ApiError | null>(null);
  loading = $state(false);
  #turn = 0;

  async load(ask: () => Promise<T>): Promise<void> {
    const turn = (this.#turn += 1);
    this.loading = true;
    try {
      const value = await ask();
      if (turn === this.#turn) [this.value, this.problem] = [value, null];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (turn === this.#turn) this.problem = error;
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }

  forget(): void {
    this.#turn += 1;
    [this.value, this.problem, this.loading] = [null, null, false];
  }
}

/** At once, and then not again for a while: what comes meanwhile is done once at its end. */
export function throttled(milliseconds: number, work: () => void): () => void {
  let resting = false;
  let again = false;
  const run = (): void => {
    if (resting) {
      again = true;
      return;
    }
    resting = true;
    work();
    setTimeout(() => {
      resting = false;
      if (again) {
        again = false;
        run();
      }
    }, milliseconds);
  };
  return run;
}
