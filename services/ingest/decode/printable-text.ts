/** Names that strangers chose, as they can be shown. */

/** What events take; longer names are jokes or attacks. */
export const TEXT_MAX = 1024

/** Without what cannot be shown, the zeros some programs fill names up with among it; null: nothing is left. */
export function printableText(text: string): string | null {
  const shown = text.replace(/[\p{Cc}\p{Cs}]/gu, '').trim()
  return shown === '' ? null : cutAt(shown, TEXT_MAX)
}

/** Never between the two halves of a character. */
function cutAt(text: string, length: number): string {
  const cut = text.slice(0, length)
  return text.length > length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}
