import { BURN_ADDRESSES } from '../../../services/core/domain/chains.js'
import type { Book } from './book.js'

/** The supply no one can spend; null if those addresses never had a balance event. */
export function burntSupply(book: Book, token: string): string | null {
  const balances = BURN_ADDRESSES[book.facts.family].flatMap((address) => book.holders.get(`${token}|${address}`) ?? [])
  return balances.length === 0 ? null : String(balances.reduce((sum, raw) => (raw > 0n ? sum + raw : sum), 0n))
}
