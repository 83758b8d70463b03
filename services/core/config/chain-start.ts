/** Where a chain's history begins: at the head, at a moment, or at a block. */
export type ChainStart = { kind: 'latest' } | { kind: 'time'; timeS: number } | { kind: 'block'; number: number }

export const START_FORM = '"latest", a date (2024-01-05 or 2024-01-05T12:00, UTC) or a block number'

/** Undefined: not in the form. A time without a zone is UTC, or it would mean another moment on another machine. */
export function readStart(given: string | number): ChainStart | undefined {
  const text = String(given).trim()
  if (text === 'latest') return { kind: 'latest' }
  if (/^\d{1,15}$/.test(text)) return { kind: 'block', number: Number(text) }
  const [, day, time = '00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? []
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(ms) ? undefined : { kind: 'time', timeS: Math.floor(ms / 1000) }
}

export function describeStart(start: ChainStart): string | number {
  switch (start.kind) {
    case 'latest':
      return 'latest'
    case 'block':
      return start.number
    case 'time':
      return new Date(start.timeS * 1000).toISOString().replace(/(:00)?\.000Z$/, 'Z')
  }
}
