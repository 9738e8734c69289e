// Addresses that the user has given a name, stored in this browser: a view with its filter, selection, grouping and range.
import { router } from "./router.svelte";
import { StoredSetting } from "./stored-setting.svelte";

export interface SavedView {
  name: string;
  /** Path and query. */
  address: string;
}

class SavedViews {
  readonly #stored = new StoredSetting<SavedView[]>("saved-views", []);
  /** The view that is being named; null if the dialog is closed. */
  edited = $state.raw<SavedView | null>(null);

  get all(): readonly SavedView[] {
    return this.#stored.value;
  }

  /** Give the view that the page shows a name. */
  create(): void {
    this.edited = { name: "", address: exactAddress() };
  }

  /** Whether a view is what the page shows. */
  isShown(view: SavedView): boolean {
    return view.address === exactAddress();
  }

  /** Store the edited view under a name. Another view with that name is replaced. */
  save(name: string): void {
    const { edited } = this;
    if (edited === null) return;
    const others = this.all.filter((view) => view.name !== name && view.name !== edited.name);
    this.#stored.value = [...others, { name, address: edited.address }].toSorted((a, b) => a.name.localeCompare(b.name));
    this.edited = null;
  }

  remove(name: string): void {
    this.#stored.value = this.all.filter((view) => view.name !== name);
    this.edited = null;
  }
}

/** The bare address of the board keeps what is selected there. This one selects nothing. */
function exactAddress(): string {
  return router.address === "/" ? "/?group=attention" : router.address;
}

export const savedViews = new SavedViews();
