/**
 * Describes the configured pools before anything is read: a mistyped id fails at the start instead of never matching.
 */
import { ConfigError } from '../../../core/domain/errors.js'
import type { DecodeRules } from '../../decode/evm/block/decode-rules.js'
import type { EvmLog } from '../../decode/evm/log.js'
import type { Protocol, Reading, Refusal } from '../../decode/evm/protocol.js'
import type { Venue } from '../../decode/evm/venue.js'
import type { ChainReader, Header } from './chain-reader.js'
import { readAll } from './read-all.js'

export type NamedPool = {
  venue: Venue
  /** The contract that emits its logs. */
  emitter: string
}

export type NamedPools = {
  described: NamedPool[]
  /** Pools inside a singleton that cannot be described yet; their creation may follow in the blocks to be read. */
  awaited: { id: string; emitters: string[]; reason: string }[]
}

export async function describeNamed(
  ids: readonly string[],
  rules: DecodeRules,
  protocols: readonly Protocol[],
  at: Header,
  reader: Pick<ChainReader, 'call'>,
  signal: AbortSignal,
): Promise<NamedPools> {
  const tasks = ids.map((id) => ({ at, reading: describeAny(id, rules, protocols) }))
  const results = await readAll(tasks, reader, signal)
  const named: NamedPools = { described: [], awaited: [] }
  const refused: string[] = []
  for (const [index, id] of ids.entries()) {
    const result = results[index] ?? { refused: 'the node returned nothing' }
    const emitters = singletonsFor(id, rules, protocols)
    if (!('refused' in result)) named.described.push(result)
    else if (PLAIN.test(id) || emitters.length === 0) refused.push(`${id}: ${result.refused}`)
    else named.awaited.push({ id, emitters, reason: result.refused })
  }
  if (refused.length === 0) return named
  throw new ConfigError({
    code: 'pool_undescribed',
    what: `Cannot follow pool ${refused.join('; ')}`,
    where: { chain: rules.chain, block: at.number },
    fix: 'Check the address and the chain; docs/protocols.md lists the protocols decoded on each chain',
  })
}

function* describeAny(id: string, rules: DecodeRules, protocols: readonly Protocol[]): Reading<NamedPool | Refusal> {
  const reasons: string[] = []
  for (const protocol of protocols) {
    for (const emitter of emittersOf(id, protocol, rules)) {
      const venue = yield* protocol.describe(id, emptyLog(emitter), rules.contracts)
      if (!('refused' in venue)) return { venue, emitter }
      if (!reasons.includes(venue.refused)) reasons.push(venue.refused)
    }
  }
  return { refused: reasons.join(', ') || 'no known contract on this chain uses such pool ids' }
}

const PLAIN = /^0x[0-9a-f]{40}$/

/** Contracts that may emit the pool's logs: itself, or a singleton of the protocol. */
function emittersOf(id: string, protocol: Protocol, { contracts }: DecodeRules): string[] {
  if (protocol.isSingleton !== true) return PLAIN.test(id) ? [id] : []
  if (protocol.ids?.test(id) !== true) return []
  return [...contracts.contracts.values()].filter(({ protocol: name }) => name === protocol.name).map((c) => c.address)
}

function singletonsFor(id: string, rules: DecodeRules, protocols: readonly Protocol[]): string[] {
  return protocols.flatMap((protocol) => emittersOf(id, protocol, rules))
}

/** A log with nothing but its emitter. */
function emptyLog(address: string): EvmLog {
  const nothing = `0x${'0'.repeat(64)}`
  return {
    ...{ address, topics: [], data: '0x', blockNumber: 0, blockHash: nothing },
    ...{ txHash: nothing, txIndex: 0, logIndex: 0 },
  }
}
