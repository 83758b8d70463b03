import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { chainUnknown, type Id, type IdKind, type IdProblem, parseAddress, parseId } from '../chain-directory.js'
import { RPC, RpcError } from './rpc.js'
import type { ParseContext } from './topic.js'

/** Instead of an address: every pair of a chain. */
export const WHOLE_CHAIN = '*'

export const PairParam = Type.String({ description: 'Pair address; * for every pair of the chain' })
export const TokenParam = Type.String({ description: 'Token address' })
export const ChainParam = Type.String({ description: 'Chain name' })
export const IntervalParam = Type.Union(INTERVALS.map((name) => Type.Literal(name)))

export function badParams(message: string): RpcError {
  return new RpcError(RPC.badParams, message)
}

/** An id whose chain is not indexed; a list of ids goes on without it. */
class ChainUnknownError extends RpcError {
  constructor(
    readonly id: string,
    message: string,
  ) {
    super(RPC.badParams, message)
  }
}

function refusalOf(id: string, { code, detail }: IdProblem): RpcError {
  return code === 'chain_unknown' ? new ChainUnknownError(id, detail) : badParams(detail)
}

/** Reads each item. One of an unknown chain is listed in `unknown`, and fails only if no item has a known one. */
export function readEach<Given, Item>(
  given: readonly Given[],
  read: (one: Given) => Item,
): { items: Item[]; unknown: string[] } {
  const items: Item[] = []
  const errors: ChainUnknownError[] = []
  for (const one of given) {
    try {
      items.push(read(one))
    } catch (error) {
      if (!(error instanceof ChainUnknownError)) throw error
      errors.push(error)
    }
  }
  if (items.length === 0 && errors[0] !== undefined) throw errors[0]
  return { items, unknown: errors.map(({ id }) => id) }
}

export function readCount(args: readonly unknown[], names: readonly string[], topic: string): void {
  if (args.length !== names.length) {
    throw badParams(`${topic} expects ${names.join(', ')} after the topic, got ${args.length} values.`)
  }
}

export function readAddress(context: ParseContext, address: unknown, chain: unknown, what: IdKind): Id {
  if (typeof address !== 'string') throw badParams(`The ${what} must be a string.`)
  if (typeof chain !== 'string') throw badParams('The chain must be a string.')
  const parsed = parseAddress(context.chains, address, chain, what)
  if ('code' in parsed) throw refusalOf(`${address}-${chain}`, parsed)
  return parsed
}

/** An address, or `*` if the key may subscribe to a whole chain. */
export function readPairAddress(context: ParseContext, address: unknown, chain: unknown): Id {
  if (address !== WHOLE_CHAIN) return readAddress(context, address, chain, 'pair address')
  if (typeof chain !== 'string') throw badParams('The chain must be a string.')
  const market = context.chains.market(chain)
  if (market === undefined) throw refusalOf(`${WHOLE_CHAIN}-${chain}`, chainUnknown(context.chains, chain))
  readWholeChain(context)
  return { address: WHOLE_CHAIN, chain: market.state.chain }
}

export function readId(context: ParseContext, id: unknown): Id {
  if (typeof id !== 'string') throw badParams('Each id must be a string <address>-<chain>.')
  if (id.startsWith(`${WHOLE_CHAIN}-`)) return readPairAddress(context, WHOLE_CHAIN, id.slice(2))
  const parsed = parseId(context.chains, id, 'id')
  if ('code' in parsed) throw refusalOf(id, parsed)
  return { address: parsed.address, chain: parsed.chain }
}

function readWholeChain({ access }: ParseContext): void {
  if (access.plan === 'unlimited' || access.plan === 'operator') return
  throw new RpcError(
    RPC.limitExceeded,
    `Subscribing to a whole chain (*) requires plan unlimited; this key has plan ${access.plan}.`,
  )
}

export function readInterval(interval: unknown): Interval {
  const known = INTERVALS.find((name) => name === interval)
  if (known === undefined) throw badParams(`The interval must be one of ${INTERVALS.join(' ')}.`)
  return known
}

export function readMaxItems(context: ParseContext, count: number): void {
  const { maxItemsPerSubscription } = context.limits
  if (count > maxItemsPerSubscription) {
    throw new RpcError(
      RPC.limitExceeded,
      `Too many items: a subscription takes at most ${maxItemsPerSubscription}, got ${count}.`,
    )
  }
}

/** The address of a channel `<topic>|<address>|…`; `*` for a whole chain. */
export function addressOf(channel: string): string {
  const start = channel.indexOf('|') + 1
  const end = channel.indexOf('|', start)
  return end < 0 ? channel.slice(start) : channel.slice(start, end)
}

/** So many channels are shorter, or hardly longer, than it takes to hash them. */
const MOST_JOINED = 3

/** A short name for a set of channels, in any order. */
export function canonicalOf(topic: string, channels: readonly string[]): string {
  const [only] = channels
  if (channels.length === 1 && only !== undefined) return only
  if (channels.length <= MOST_JOINED) return `${topic}|${[...channels].sort().join('\n')}`
  return `${topic}|${createHash('sha256')
    .update([...channels].sort().join('\n'))
    .digest('base64url')}`
}
