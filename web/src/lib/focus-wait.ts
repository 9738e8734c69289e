// Go to a wait, wherever it is shown: on this page, in the panel of the board, in the waits, or in the view of its agent.
import { focusNow } from "./focus";
import { agentPath, router, waitPath } from "./router.svelte";
import { ui } from "./ui.svelte";

const ATTEMPTS = 20;

export function goToWait(agent: string, wait: string): void {
  if (document.getElementById(`wait-${wait}`) === null) {
    if (router.isBoard) ui.selected = agent;
    else if (router.segments[0] === "waits") router.replace(waitPath(wait));
    else router.navigate(agentPath(agent));
  }
  focusWhenShown(`wait-${wait}`, ATTEMPTS);
}

/** The card is rendered after the next frame, or after its agent was loaded. */
function focusWhenShown(id: string, attempts: number): void {
  const element = document.getElementById(id);
  if (element !== null) focusNow(element);
  else if (attempts > 0) requestAnimationFrame(() => focusWhenShown(id, attempts - 1));
}
