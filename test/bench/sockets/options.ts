/** Options of `npm run load`. */
import { parseArgs } from 'node:util'

export const USAGE = `npm run load -- [--proof live|resume|restore] [options]

  live      sockets on a busy market; with --stalled, --searches, --queries or --hostile it runs a second time with them
  resume    the server is killed and comes back: every socket resumes with since
  restore   many subscriptions reconnect at once, while other sockets stay

  --sockets N          2000; 10000 for resume, 1000 for restore
  --subscriptions N    of each socket: 20; 10 for resume, 50 for restore (at most 1000)
  --swaps-per-s N      2000; 200 for resume and restore
  --minutes N          0.5: how long the sockets listen
  --away-s N           5: how long the sockets of restore are disconnected
  --history-h N        6: hours of market history before the first socket opens
  --seed N             1
  --stalled P%         share of the sockets that stop reading
  --searches N         connections that repeat keyword searches
  --queries N          connections that repeat the dearest SQL that is allowed
  --hostile            a free key subscribes to ids that do not exist`

export type LoadOptions = {
  proof: 'live' | 'resume' | 'restore'
  sockets: number
  subscriptionsEach: number
  swapsPerS: number
  seconds: number
  awayS: number
  historyH: number
  seed: number
  stalled: number
  searches: number
  queries: number
  isHostile: boolean
}

const DEFAULTS = {
  live: { sockets: 2000, subscriptionsEach: 20, swapsPerS: 2000 },
  resume: { sockets: 10_000, subscriptionsEach: 10, swapsPerS: 200 },
  restore: { sockets: 1000, subscriptionsEach: 50, swapsPerS: 200 },
}
/** The server allows no more on one socket. */
const MAX_SUBSCRIPTIONS = 1000

/** Throws an error with a message for the user. */
export function readOptions(args: readonly string[]): LoadOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ proof: text, sockets: text, subscriptions: text, 'swaps-per-s': text, minutes: text, 'history-h': text },
      'away-s': text,
      ...{ seed: text, stalled: text, searches: text, queries: text, hostile: { type: 'boolean' } },
    },
  })
  const proof = readProof(values.proof ?? 'live')
  const usual = DEFAULTS[proof]
  const options = {
    proof,
    sockets: numberOf('--sockets', values.sockets, usual.sockets),
    subscriptionsEach: numberOf('--subscriptions', values.subscriptions, usual.subscriptionsEach),
    swapsPerS: numberOf('--swaps-per-s', values['swaps-per-s'], usual.swapsPerS),
    seconds: numberOf('--minutes', values.minutes, 0.5) * 60,
    awayS: numberOf('--away-s', values['away-s'], 5),
    historyH: numberOf('--history-h', values['history-h'], 6),
    seed: numberOf('--seed', values.seed, 1),
    stalled: numberOf('--stalled', values.stalled?.replace(/%$/, ''), 0) / 100,
    searches: numberOf('--searches', values.searches, 0),
    queries: numberOf('--queries', values.queries, 0),
    isHostile: values.hostile === true,
  }
  if (options.subscriptionsEach > MAX_SUBSCRIPTIONS)
    throw new Error(`--subscriptions must be at most ${MAX_SUBSCRIPTIONS}, got ${options.subscriptionsEach}`)
  return options
}

function readProof(name: string): LoadOptions['proof'] {
  if (name === 'live' || name === 'resume' || name === 'restore') return name
  throw new Error(`--proof must be live, resume or restore, got ${name}`)
}

function numberOf(name: string, value: string | undefined, usual: number): number {
  if (value === undefined) return usual
  const number = Number(value)
  if (value === '' || !(number >= 0)) throw new Error(`${name} must be a number of at least 0, got ${value}`)
  return number
}
