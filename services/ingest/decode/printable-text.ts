/** Token names and symbols come from anybody: make them printable. */

/** Length limit of event fields; longer names are jokes or attacks. */
export const TEXT_MAX = 1024

/** Drops control characters and lone surrogates, zero padding included; null if nothing remains. */
export function printableText(text: string): string | null {
  const printable = text.replace(/[\p{Cc}\p{Cs}]/gu, '').trim()
  return printable === '' ? null : cutAt(printable, TEXT_MAX)
}

/** Never splits a surrogate pair. */
function cutAt(text: string, length: number): string {
  const cut = text.slice(0, length)
  return text.length > length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}
