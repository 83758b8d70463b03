/** The content of a generated block: generated or recorded trades, some of them failed, among votes and transfers. */
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import type { Random } from '../market/random.js'
import { generatedTransaction, PUMP_SELL, RAYDIUM_V4_SWAP } from './generated/transactions.js'
import { failed, garbled, lamportTransfer, repeated, tokenTransfer, vote } from './made-transactions.js'
import { FIRST_RESERVES, type PoolTrade, poolTrade, type Reserves } from './moving-pool.js'
import { everyInJson } from './recorded/transactions.js'
import { keyFrom } from './seeded.js'

/** State of a branch that depends on the blocks below: balances of one token, and the moving pool's reserves. */
export type BranchState = { holdings: readonly bigint[]; reserves: Reserves }

/** Trades that are also corrupted, because their program's log repeats what their transfers say. */
const isGarbled = (name: string) => name === RAYDIUM_V4_SWAP || name.includes('raydiumLiquidityPoolV4_swap')
const HOLDERS = 6
const FIRST_HELD = 1_000_000_000n
export const FIRST_STATE: BranchState = {
  holdings: Array.from({ length: HOLDERS }, () => FIRST_HELD),
  reserves: FIRST_RESERVES,
}
/** Traded on its curve, so that its holders are followed. */
export const MOVED_TOKEN = { mint: soldCoin(), decimals: 6 }

type Kind = 'trade' | 'failed' | 'garbled' | 'pool' | 'vote' | 'lamports' | 'tokens'
type Weights = Readonly<Record<Kind, number>>

/** Trades first: on mainnet most transactions are votes. */
const WEIGHTS: Weights = { trade: 6, failed: 1, garbled: 0.3, pool: 2, vote: 2, lamports: 1, tokens: 2 }

export type ContentOptions = {
  /** Both bounds included. */
  transactions: readonly [least: number, most: number]
  weights?: Partial<Weights>
  /** Which trades are repeated, by name; by default all. */
  isRepeated?: (name: string) => boolean
}

export type Content = { transactions: JsonTransaction[]; trades: PoolTrade[]; state: BranchState }

/** `name`: unique name of the block. */
export function blockContent(
  name: string,
  previousBlockhash: string,
  before: BranchState,
  random: Random,
  { transactions: [least, most], weights = {}, isRepeated = () => true }: ContentOptions,
): Content {
  const trades = everyInJson().filter((each) => isRepeated(each.name))
  const wanted = Object.entries({ ...WEIGHTS, ...weights }) as [Kind, number][]
  const kinds = wanted.map(([kind, weight]) => [trades.length > 0 || isPlain(kind) ? weight : 0, kind] as const)
  const holdings = [...before.holdings]
  let { reserves } = before
  const poolTrades: PoolTrade[] = []
  const transactions = Array.from({ length: random.int(least, most) }, (_, at) => someTransaction(`${name} ${at}`))
  return { transactions, trades: poolTrades, state: { holdings, reserves } }

  function someTransaction(own: string): JsonTransaction {
    switch (random.weighted(kinds)) {
      case 'trade':
        return repeated(random.pick(trades).value, own, previousBlockhash)
      case 'failed':
        return failed(repeated(random.pick(trades).value, own, previousBlockhash))
      case 'garbled': {
        const some = random.pick(trades.filter((each) => isGarbled(each.name)))
        return garbled(repeated(some.value, own, previousBlockhash))
      }
      case 'pool':
        return tradePool(own)
      case 'vote':
        return vote(own, previousBlockhash)
      case 'lamports':
        return lamportTransfer(own, previousBlockhash, random.int(1, 1_000_000))
      case 'tokens':
        return moveTokens(own)
    }
  }

  function tradePool(own: string): JsonTransaction {
    const isBuy = random.chance(0.5)
    const { coin, sol } = reserves
    const amountIn = (isBuy ? sol : coin) / BigInt(random.int(50, 5000))
    const { transaction, trade, after } = poolTrade(own, previousBlockhash, { isBuy, amountIn }, reserves)
    reserves = after
    poolTrades.push(trade)
    return transaction
  }

  function moveTokens(own: string): JsonTransaction {
    const from = random.int(0, HOLDERS - 1)
    const to = (from + random.int(1, HOLDERS - 1)) % HOLDERS
    const held = { from: holdings[from] ?? 0n, to: holdings[to] ?? 0n }
    const amount = held.from / BigInt(random.int(2, 20))
    holdings[from] = held.from - amount
    holdings[to] = held.to + amount
    const move = { ...MOVED_TOKEN, from: keyFrom(`holder ${from}`), to: keyFrom(`holder ${to}`), amount }
    return tokenTransfer(own, previousBlockhash, move, held)
  }
}

function soldCoin(): string {
  const [swap] = generatedTransaction(PUMP_SELL).expected
  if (swap?.type !== 'swap' || swap.token_in === undefined) throw new Error('a sale without a coin')
  return swap.token_in
}

const isPlain = (kind: Kind): boolean => kind === 'vote' || kind === 'lamports' || kind === 'tokens' || kind === 'pool'
