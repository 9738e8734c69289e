// Whether the page is shown on a phone: the same limit as in the style sheets.
import { MediaQuery } from "svelte/reactivity";

export const phone = new MediaQuery("(max-width: 760px)");
