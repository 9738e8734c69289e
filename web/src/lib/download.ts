// Saves a reply of the API as a file. The request needs the key of the page, so a plain link cannot do it.
import { ApiError, send } from "./api";

/** Returns why it failed; null if it did not. */
export async function downloadText(path: string, parameters: Record<string, string>, file: string): Promise<string | null> {
  try {
    const response = await send(`${path}?${new URLSearchParams(parameters)}`, {});
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = file;
    link.click();
    // The browser reads the file after this task.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return `${error.message} ${error.hint}`;
    throw error;
  }
}
