import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { type Id, parseAddress, parseId } from '../chain-directory.js'
import { RPC, RpcError } from './rpc.js'
import type { ParseContext } from './topic.js'

/** Readers of subscription params; each says what was wrong and where. */
export function badParams(message: string): RpcError {
  return new RpcError(RPC.badParams, message)
}

export function readCount(args: readonly unknown[], names: readonly string[], topic: string): void {
  if (args.length !== names.length) {
    throw badParams(`${topic} takes ${names.join(', ')} after the topic, got ${args.length} values.`)
  }
}

export function readAddress(context: ParseContext, address: unknown, chain: unknown, what: string): Id {
  if (typeof address !== 'string') throw badParams(`The ${what} must be a string.`)
  if (typeof chain !== 'string') throw badParams('The chain must be a string.')
  const parsed = parseAddress(context.chains, address, chain, what)
  if ('code' in parsed) throw badParams(parsed.detail)
  return parsed
}

export function readId(context: ParseContext, id: unknown): Id {
  if (typeof id !== 'string') throw badParams('Each id must be a string <address>-<chain>.')
  const parsed = parseId(context.chains, id, 'id')
  if ('code' in parsed) throw badParams(parsed.detail)
  return parsed
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
      `A subscription names at most ${maxItemsPerSubscription} items, got ${count}.`,
    )
  }
}
