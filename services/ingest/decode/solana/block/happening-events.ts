/** What happened in a pool → its events, with what the log must have heard before: tokens and the pool itself. */
import { WRAPPED_SOL } from '../native-programs.js'
import type { Happening, Pool } from '../program.js'
import type { SolanaTransaction } from '../transaction.js'
import type { Book } from './book.js'
import type { EventList, EventPlace } from './event-list.js'
import { profileOf } from './profile.js'
import { isPoolWanted, type SolanaRules } from './rules.js'

const WRAPPED_SOL_DECIMALS = 9

export function addHappening(
  happening: Happening,
  transaction: SolanaTransaction,
  { events, book, rules }: { events: EventList; book: Book; rules: SolanaRules },
): void {
  const { index: txIndex, signature, feePayer: wallet } = transaction
  const place: EventPlace = { txIndex, order: happening.instruction.order, signature }
  switch (happening.kind) {
    case 'swap': {
      const { pool, sender, recipient, tokenIn, tokenOut } = happening
      if (!announce(pool)) return
      const { reserve0, reserve1, sqrtPrice } = happening
      return events.add(place, {
        ...{ type: 'swap', pool: pool.pool, amm: pool.amm, sender, recipient, wallet },
        token_in: tokenIn,
        amount_in: happening.amountIn.toString(),
        token_out: tokenOut,
        amount_out: happening.amountOut.toString(),
        reserve0: reserve0?.toString() ?? null,
        reserve1: reserve1?.toString() ?? null,
        sqrt_price: sqrtPrice?.toString() ?? null,
        profile: profileOf(transaction, wallet, [pool.token0, pool.token1], decimalsOf),
      })
    }
    case 'liquidity': {
      const { pool, change, sender, amount0, amount1, reserve0, reserve1 } = happening
      if (!announce(pool)) return
      return events.add(place, {
        ...{ type: 'liquidity', pool: pool.pool, amm: pool.amm, kind: change, sender, wallet },
        amount0: amount0.toString(),
        amount1: amount1.toString(),
        reserve0: reserve0?.toString() ?? null,
        reserve1: reserve1?.toString() ?? null,
      })
    }
    case 'pool':
      announce(happening.pool)
      return
    case 'launch': {
      // Of a token nobody follows: its curve is out of scope.
      const { token, platform, stage, progress, pool } = happening
      if (book.token(token) === undefined) return
      return events.add(place, { type: 'launch', token, platform, stage, progress, pool })
    }
    case 'token': {
      const { token, name, symbol, decimals } = happening
      return tellToken(token, { name, symbol, decimals: decimals ?? decimalsOf(token) })
    }
  }

  /** False: it is not wanted. */
  function announce(pool: Pool): boolean {
    if (!isPoolWanted(rules.scope, pool)) return false
    for (const mint of [pool.token0, pool.token1]) {
      const known = book.token(mint)
      const decimals = decimalsOf(mint)
      if (known === undefined || (known.decimals === null && decimals !== null))
        tellToken(mint, { name: null, symbol: null, decimals })
      const now = book.token(mint)
      if (now !== undefined && !now.traded) book.putToken(mint, { ...now, traded: true })
    }
    if (book.hasPool(pool.pool)) return true
    book.putPool(pool.pool)
    const { amm, token0, token1, fee, creator } = pool
    events.add(place, { type: 'pool', pool: pool.pool, amm, token0, token1, fee, creator })
    return true
  }

  function tellToken(
    token: string,
    { name, symbol, decimals }: { name: string | null; symbol: string | null; decimals: number | null },
  ): void {
    const known = book.token(token)
    const isNew = known === undefined || name !== null || (known.decimals === null && decimals !== null)
    if (!isNew) return
    book.putToken(token, { decimals: decimals ?? known?.decimals ?? null, traded: known?.traded ?? false })
    events.add(place, { type: 'token', token, name, symbol, decimals, total_supply: null })
  }

  function decimalsOf(mint: string): number | null {
    if (mint === WRAPPED_SOL) return WRAPPED_SOL_DECIMALS
    const known = book.token(mint)?.decimals ?? null
    if (known !== null) return known
    for (const tokens of [transaction.postTokens, transaction.preTokens])
      for (const balance of tokens.values()) if (balance.mint === mint) return balance.decimals
    return null
  }
}
