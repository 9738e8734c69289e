// Data that is loaded from the API: its value, its error, whether it is loading. The latest request wins.
import { ApiError } from "./api";

export class Resource<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<ApiError | null>(null);
  isLoading = $state(false);
  #request = 0;

  async load(request: () => Promise<T>): Promise<void> {
    const number = (this.#request += 1);
    this.isLoading = true;
    try {
      const value = await request();
      if (number === this.#request) [this.value, this.error] = [value, null];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (number === this.#request) this.error = error;
    } finally {
      if (number === this.#request) this.isLoading = false;
    }
  }

  clear(): void {
    this.#request += 1;
    [this.value, this.error, this.isLoading] = [null, null, false];
  }
}

/** Run `work` at most once per interval: immediately, and once more at the end if it was requested in between. */
export function throttle(milliseconds: number, work: () => void): () => void {
  let isWaiting = false;
  let isRequested = false;
  const run = (): void => {
    if (isWaiting) {
      isRequested = true;
      return;
    }
    isWaiting = true;
    work();
    setTimeout(() => {
      isWaiting = false;
      if (isRequested) {
        isRequested = false;
        run();
      }
    }, milliseconds);
  };
  return run;
}
