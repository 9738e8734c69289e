// Bringing something of a conversation in front: whatever is folded around it is unfolded.

export function reveal(id: string | null): void {
  const item = id === null ? null : document.getElementById(id);
  if (!item) return;
  const own = item.querySelector("details");
  for (let around = own ?? item.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
  item.scrollIntoView({ block: "center" });
  (item.querySelector("summary") ?? item).focus({ preventScroll: true });
}
