// Loads a wait with its complete request. Texts are exact, without marks, because some of them are sent back.
import { getExact } from "./api";
import type { WaitDetails } from "./types";

export async function loadWaitDetails(wait: string, all: boolean): Promise<WaitDetails> {
  return (await getExact("/api/waits/{wait}", { wait, all: all || null })) as WaitDetails;
}
