/** What a chain's configuration asks to be decoded, in the form decoders take. */
import type { ChainScope } from '../../../core/config/node-source.js'
import type { ChainMoney } from '../../../core/domain/chains.js'
import type { Scope } from '../../decode/scope.js'
import { moneyOf } from './configured-money.js'

/** `references`: pools beside those that were named, for the prices of money. */
export const decodedScope = ({ pools, tokens, amms, balances }: ChainScope, references: readonly string[]): Scope => ({
  pools: new Set([...pools, ...references]),
  tokens: new Set(tokens),
  amms: new Set(amms),
  balances,
})

/** Tokens that rank as money. */
export const moneySet = (money: ChainMoney): ReadonlySet<string> => new Set(moneyOf(money).map(({ token }) => token))
