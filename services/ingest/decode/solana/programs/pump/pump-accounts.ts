/** Where the Pump.fun program's instructions have the accounts that matter here (pump-fun/pump-public-docs, `idl/pump.json` and `docs/instructions`). */
import { instructionDiscriminator } from '../../instruction/anchor.js'

export type TradeAccounts = {
  mint: number
  curve: number
  /** The curve's own tokens. */
  vault: number
  user: number
}

const FIRST: TradeAccounts = { mint: 2, curve: 3, vault: 4, user: 6 }
const SECOND: TradeAccounts = { mint: 1, curve: 10, vault: 11, user: 13 }
const THIRD: TradeAccounts = { mint: 1, curve: 5, vault: 6, user: 8 }

/** By discriminator. */
export const TRADE_ACCOUNTS: ReadonlyMap<string, TradeAccounts> = new Map([
  ...named(FIRST, 'buy', 'sell', 'buy_exact_sol_in'),
  ...named(SECOND, 'buy_v2', 'sell_v2', 'buy_exact_quote_in_v2'),
  ...named(THIRD, 'buy_v3', 'sell_v3', 'buy_exact_quote_in_v3'),
])

function named(accounts: TradeAccounts, ...names: readonly string[]): [string, TradeAccounts][] {
  return names.map((name) => [instructionDiscriminator(name), accounts])
}
