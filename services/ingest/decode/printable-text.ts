/** Token names and symbols come from anybody: make them printable. */
import { cutText } from '../../core/domain/name-text.js'

/** Length limit of event fields; longer names are jokes or attacks. */
export const TEXT_MAX = 1024

/** Drops control characters and lone surrogates, zero padding included; null if nothing remains. */
export function printableText(text: string): string | null {
  const printable = text.replace(/[\p{Cc}\p{Cs}]/gu, '').trim()
  return printable === '' ? null : cutText(printable, TEXT_MAX)
}
