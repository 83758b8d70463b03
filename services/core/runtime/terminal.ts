/** Terminals: whether a stream is one, and colours on it. */
import type { Writable } from 'node:stream'

/** Standard output or error, or a stream in their place. */
export type OutStream = Writable & { isTTY?: boolean; columns?: number; rows?: number }

type Environment = Readonly<Record<string, string | undefined>>

/** FORCE_COLOR decides, then NO_COLOR (https://no-color.org), then whether the stream is a terminal: as Node itself does. */
export function wantsColour(env: Environment, { isTTY }: Pick<OutStream, 'isTTY'>): boolean {
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR)
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  return isTTY === true && env.TERM !== 'dumb'
}

/** `styleText` of node:util needs Node 20.12. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

export type Paint = Record<keyof typeof STYLES, (text: string) => string>

export function createPaint(isOn: boolean): Paint {
  const painters = Object.entries(STYLES).map(([name, [on, off]]) => [
    name,
    (text: string) => (isOn ? `\x1b[${on}m${text}\x1b[${off}m` : text),
  ])
  return Object.fromEntries(painters) as Paint
}

export const PLAIN: Paint = createPaint(false)

/** The columns that text takes on a terminal, without its colours. */
export function widthOf(text: string): number {
  return text.replaceAll(COLOUR, '').length
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour.
const COLOUR = /\x1b\[[0-9;]*m/g

/**
 * Text from a chain, such as a symbol, for a terminal: anyone can name a token with codes that move the cursor, or letters that
 * reverse or hide what is beside them.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD')
}
