import type { ChainDirectory } from '../chain-directory.js'
import { addressOf, WHOLE_CHAIN } from './params.js'
import type { SubscriptionSpec } from './topic.js'

/** Ids listed in a reply. */
export const MAX_UNKNOWN = 100

/** Topics about tokens; the others are about pairs, and `price` about both. */
const OF_TOKENS = ['multi_tx', 'price']
const NOT_OF_PAIRS = ['multi_tx']
/** Any address may be a wallet; signals have none. */
const OF_NO_IDS = ['wallet', 'wallets', 'signal']

export type UnknownIds = { unknown?: string[]; unknown_count?: number }

/**
 * The ids of a subscription that its topic does not know yet, whose pushes start with their first trade, and those left
 * out for their chain.
 */
export function unknownIds(
  chains: ChainDirectory,
  { channels, leftOut = [] }: Pick<SubscriptionSpec, 'channels' | 'leftOut'>,
): UnknownIds {
  const ids = channels.flatMap((channel) => unknownIdOf(chains, channel) ?? [])
  if (ids.length === 0 && leftOut.length === 0) return {}
  const unknown = new Set([...leftOut, ...ids])
  return { unknown: [...unknown].slice(0, MAX_UNKNOWN), unknown_count: unknown.size }
}

function unknownIdOf(chains: ChainDirectory, channel: string): string | undefined {
  const topic = channel.slice(0, channel.indexOf('|'))
  if (OF_NO_IDS.includes(topic)) return undefined
  const address = addressOf(channel)
  const chain = channel.slice(channel.lastIndexOf('|') + 1)
  const state = chains.market(chain)?.state
  if (address === WHOLE_CHAIN || (!NOT_OF_PAIRS.includes(topic) && state?.pairs.has(address))) return undefined
  return OF_TOKENS.includes(topic) && state?.tokens.has(address) ? undefined : `${address}-${chain}`
}
