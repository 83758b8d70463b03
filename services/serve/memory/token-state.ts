import type { PackedWindows } from '../../core/domain/packed-windows.js'
import type { TokenInfo, TokenUpdate } from '../../core/domain/records.js'

/** Of a token that the index does not have. */
export const NO_SLOT = -1

/** Where a token's windows are: in its own entry, or in the state that its main pair had then. */
export type WindowsSource = { readonly windows: PackedWindows; detach(): void }

type Facts = Omit<TokenUpdate, 'info' | 'windows'>

/** A token after its last update. */
export class TokenState implements Facts {
  readonly token: string
  readonly price_usd: number
  readonly price_native: number
  main_pair: string | null
  readonly tvl: number
  readonly holders: number
  readonly updated_at: number
  /** Its place in the index of names. */
  slot = NO_SLOT
  /** Another state of the token has taken its place. */
  isReplaced = false

  constructor(
    update: Facts,
    readonly info: TokenInfo,
    readonly source: WindowsSource,
  ) {
    this.token = update.token
    this.price_usd = update.price_usd
    this.price_native = update.price_native
    this.main_pair = update.main_pair
    this.tvl = update.tvl
    this.holders = update.holders
    this.updated_at = update.updated_at
  }

  get windows(): PackedWindows {
    return this.source.windows
  }

  /** The token as it was, at a later time. */
  at(windows: WindowsSource | undefined): TokenState {
    return new TokenState(this, this.info, windows ?? this.source)
  }

  /** For a state that stays: until then its bytes keep a chunk of the log in memory. */
  detach(): void {
    this.source.detach()
  }
}
