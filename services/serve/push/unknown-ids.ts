import type { ChainDirectory } from '../chain-directory.js'
import { WHOLE_CHAIN } from './params.js'
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
  const unknown = new Set(leftOut)
  for (const channel of channels) {
    const [topic = '', address = '', ...rest] = channel.split('|')
    if (OF_NO_IDS.includes(topic)) continue
    const chain = rest.at(-1) ?? ''
    const state = chains.market(chain)?.state
    const isToken = OF_TOKENS.includes(topic) && state?.tokens.has(address)
    const isPair = !NOT_OF_PAIRS.includes(topic) && state?.pairs.has(address)
    if (address !== WHOLE_CHAIN && !isToken && !isPair) unknown.add(`${address}-${chain}`)
  }
  if (unknown.size === 0) return {}
  return { unknown: [...unknown].slice(0, MAX_UNKNOWN), unknown_count: unknown.size }
}
