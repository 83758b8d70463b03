import type { PackedWindows } from '../../core/domain/packed-windows.js'
import type { TokenInfo, TokenUpdate } from '../../core/domain/records.js'

/** A token after its last update. */
export type TokenState = Omit<TokenUpdate, 'windows' | 'info'> & {
  info: TokenInfo
  windows: PackedWindows
  /** Its place in the index of names. */
  slot: number
}

/** Of a token that the index does not have. */
export const NO_SLOT = -1

export function tokenStateOf(update: Omit<TokenUpdate, 'info'>, info: TokenInfo, windows: PackedWindows): TokenState {
  return {
    token: update.token,
    info,
    price_usd: update.price_usd,
    price_native: update.price_native,
    main_pair: update.main_pair,
    tvl: update.tvl,
    holders: update.holders,
    updated_at: update.updated_at,
    windows,
    slot: NO_SLOT,
  }
}
