// A setting of this browser, stored in localStorage. Without localStorage it lasts until the page is closed.

export class StoredSetting<T> {
  #value = $state.raw() as T;

  constructor(
    private readonly name: string,
    initial: T,
  ) {
    this.#value = (read(name) as T | undefined) ?? initial;
    window.addEventListener("storage", (event) => {
      if (event.key === storageKey(name)) this.#value = (read(name) as T | undefined) ?? initial;
    });
  }

  get value(): T {
    return this.#value;
  }

  /** Use another value without storing it, for example that of a link. */
  show(value: T): void {
    this.#value = value;
  }

  set value(value: T) {
    this.#value = value;
    try {
      localStorage.setItem(storageKey(this.name), JSON.stringify(value));
    } catch {
      // No storage: the value lasts until the page is closed.
    }
  }
}

function storageKey(name: string): string {
  return `headspace.${name}`;
}

function read(name: string): unknown {
  try {
    const text = localStorage.getItem(storageKey(name));
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
