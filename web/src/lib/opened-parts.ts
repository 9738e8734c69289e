// Which collapsed parts of a conversation are open, by key. The list renders only what is visible: what a person opened
// is still open when it comes back into view.
import { getContext, setContext } from "svelte";

const KEY = "opened parts";

type OpenedParts = Map<string, boolean>;

export const rememberOpenedParts = (): OpenedParts => setContext(KEY, new Map());
export const openedParts = (): OpenedParts => getContext<OpenedParts | undefined>(KEY) ?? new Map();
