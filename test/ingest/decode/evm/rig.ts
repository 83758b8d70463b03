/** Handmade logs in the shape nodes return, and a driver that applies them in order and settles each transaction. */
import { topicOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import type { EvmLog } from '../../../../services/ingest/decode/evm/log.js'
import type {
  Call,
  ChainContracts,
  Protocol,
  Reading,
  VenueEvent,
} from '../../../../services/ingest/decode/evm/protocol.js'
import type { Venue, VenueState } from '../../../../services/ingest/decode/evm/venue.js'

export type Word = bigint | number | string | boolean

/** A made-up address that is easy to recognise. */
export function address(n: number): string {
  return `0x${n.toString(16).padStart(40, '0')}`
}

export function word(value: Word): string {
  if (typeof value === 'string') return value.slice(2).padStart(64, '0')
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
}

export type LogPlace = { address?: string; tx?: number; log?: number }

/** `signature` of the event, its indexed fields, the words of its data. */
export function makeLog(
  signature: string,
  indexed: readonly Word[],
  data: readonly Word[],
  { address: pool = POOL, tx = 0, log = 0 }: LogPlace = {},
): EvmLog {
  return {
    address: pool,
    topics: [topicOf(signature), ...indexed.map((value) => `0x${word(value)}`)],
    data: `0x${data.map(word).join('')}`,
    blockNumber: 1,
    blockHash: `0x${'b'.repeat(64)}`,
    txHash: `0x${word(tx + 1)}`,
    txIndex: tx,
    logIndex: log,
  }
}

export const POOL = address(0x9001)
export const TOKEN0 = address(0x7000)
export const TOKEN1 = address(0x7001)
export const FACTORY = address(0xfac7)

export function venue(protocol: string, more: Partial<Venue> = {}): Venue {
  return { id: POOL, protocol, amm: 'test', tokens: [TOKEN0, TOKEN1], fee: null, creator: null, ...more }
}

export function chainOf(protocol: string, more: Partial<ChainContracts> = {}): ChainContracts {
  return {
    wrappedNative: undefined,
    contracts: new Map([[FACTORY, { address: FACTORY, protocol, amm: 'test' }]]),
    named: new Set(),
    ...more,
  }
}

/** Events in the order of their logs, as the source publishes them. */
export function play<S extends VenueState>(
  protocol: Protocol<S>,
  at: Venue,
  start: S,
  logs: readonly EvmLog[],
): { state: S; events: VenueEvent[] } {
  const events: VenueEvent[] = []
  let state = start
  logs.forEach((log, place) => {
    const applied = protocol.apply(log, at, state)
    events.push(...applied.events)
    state = applied.state
    if (logs[place + 1]?.txHash === log.txHash || protocol.settle === undefined) return
    const settled = protocol.settle(at, state)
    events.push(...settled.events)
    state = settled.state
  })
  return {
    state,
    events: events.sort((a, b) => a.log.blockNumber - b.log.blockNumber || a.log.logIndex - b.log.logIndex),
  }
}

/** Completes a read with a contract's answers: by address, then by call data. */
export function answerWith<T>(reading: Reading<T>, answer: (call: Call) => string | null): T {
  let step = reading.next()
  while (!step.done) step = reading.next(step.value.map(answer))
  return step.value
}
