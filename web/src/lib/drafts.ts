// Prompts that were not sent yet, by agent. They survive navigation and a reload, but not the end of the browser session:
// a prompt can contain secrets. Without storage they last until the page is closed.
const drafts = new Map<string, string>();

const key = (agent: string): string => `headspace.draft.${agent}`;

export function readDraft(agent: string): string {
  try {
    return drafts.get(agent) ?? sessionStorage.getItem(key(agent)) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(agent: string, text: string): void {
  drafts.set(agent, text);
  try {
    if (text === "") sessionStorage.removeItem(key(agent));
    else sessionStorage.setItem(key(agent), text);
  } catch {
    // No storage, or it is full.
  }
}
