/** A recording's lines as in the file, and the canonical ones without orphans and repeats. */
import { type ChainFamily, normalAddress } from '../../../services/core/domain/chains.js'
import type { Event } from '../../../services/core/domain/records.js'

type NullableKey<E> = { [K in keyof E]: null extends E[K] ? K : never }[keyof E]
type Loose<E> = Omit<E, NullableKey<E> | 'sub'> & Partial<Pick<E, NullableKey<E>>> & { sub?: number }

/** An event as a recording may have it: `sub` and nullable fields can be absent. */
export type RecordingEvent = { [T in Event['type']]: Loose<Extract<Event, { type: T }>> }[Event['type']]

export type RecordingBlock = {
  kind?: 'block'
  chain: string
  number: number
  hash: string
  parent_hash: string
  time: number
  finalized_number: number
  events: RecordingEvent[]
}

export type RecordingRetract = {
  kind: 'retract'
  chain: string
  from_number: number
  from_hash: string
  to_number: number
  to_hash: string
}

export type RecordingLine = RecordingBlock | RecordingRetract

export type SurvivingBlock = Omit<RecordingBlock, 'kind' | 'events'> & { events: Event[] }

export function isRetract(line: RecordingLine): line is RecordingRetract {
  return line.kind === 'retract'
}

/** The canonical lines; a block keeps the place where it was last applied. */
export function acceptedBlocks(lines: readonly RecordingLine[]): RecordingBlock[] {
  const kept: RecordingBlock[] = []
  const seen = new Set<string>()
  for (const line of lines) {
    const head = kept.at(-1)
    const name = isRetract(line) ? `retract ${line.from_hash} ${line.to_hash}` : `block ${line.hash}`
    if (isRetract(line) ? head?.hash === line.from_hash : head === undefined || head.hash === line.parent_hash) {
      if (isRetract(line)) {
        const stays = kept.findIndex((block) => block.hash === line.to_hash)
        if (stays < 0) throw new Error(`${name}: the block that stays is not applied`)
        kept.length = stays + 1
      } else kept.push(line)
      seen.add(name)
    } else if (!seen.has(name)) throw new Error(`${name} does not link to the head ${head?.hash ?? 'none'}`)
  }
  return kept
}

export function survivingBlocks(lines: readonly RecordingLine[], family: ChainFamily): SurvivingBlock[] {
  return acceptedBlocks(lines).map(({ kind: _, events, ...block }) => ({
    ...block,
    events: events
      .map((event) => fullEvent(event, family))
      .sort((a, b) => a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub),
  }))
}

const NULLS = {
  token: { name: null, symbol: null, decimals: null, total_supply: null },
  pool: { fee: null, creator: null },
  swap: { reserve0: null, reserve1: null, sqrt_price: null, profile: null },
  liquidity: { reserve0: null, reserve1: null },
  balance: { delta: null, balance: null },
  launch: { progress: null, pool: null },
  meta: { total_supply: null, owner: null, risk: null, logo_url: null, links: null, holders_complete: null },
} as const

const ADDRESSES = [
  'token',
  'token0',
  'token1',
  'token_in',
  'token_out',
  'pool',
  'wallet',
  'sender',
  'recipient',
  'holder',
]

/** All fields, null for absent ones, with normalised addresses. */
export function fullEvent(event: RecordingEvent, family: ChainFamily): Event {
  const full: Record<string, unknown> = { sub: 0, ...NULLS[event.type], ...event }
  for (const field of ADDRESSES) {
    const address = full[field]
    if (typeof address === 'string') full[field] = normalAddress(family, address)
  }
  return full as unknown as Event
}
