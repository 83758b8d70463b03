/** Events about all holders of a token, for every chain family. */
import type { BalanceEvent, MetaEvent, TokenEvent } from '../../core/domain/records.js'

type Placed = 'tx_index' | 'log_index' | 'sub' | 'tx_hash'
type Placeless<E> = Omit<E, Placed>

/** Events that end a block, before they have a place. */
export type HolderEvent = Placeless<TokenEvent> | Placeless<BalanceEvent> | Placeless<MetaEvent>

/** Whether all holders of the token are known from its block on. */
export function completion(token: string, supply: bigint | null, isComplete: boolean): Placeless<MetaEvent> {
  const nothing = { owner: null, risk: null, logo_url: null, links: null }
  const total_supply = supply?.toString() ?? null
  return { type: 'meta', token, total_supply, ...nothing, holders_complete: isComplete }
}
