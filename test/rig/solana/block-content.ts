/** What stands in a block of the made chain: trades recorded on mainnet, some of them failed, between votes and transfers. */
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import type { Random } from '../market/random.js'
import { failed, garbled, lamportTransfer, repeated, tokenTransfer, vote } from './made-transactions.js'
import { FIRST_RESERVES, MOVING_RECORDING, type PoolTrade, poolTrade, type Reserves } from './moving-pool.js'
import { recordedTransactions } from './recorded/transactions.js'
import { keyFrom } from './seeded.js'

/** What follows from the blocks below, on every branch its own: balances of one token, and the moving pool's reserves. */
export type BranchState = { holdings: readonly bigint[]; reserves: Reserves }

/** The recordings that are also garbled: a program's log there tells what its transfers tell. */
const GARBLED = 'raydiumLiquidityPoolV4_swap'
const HOLDERS = 6
const FIRST_HELD = 1_000_000_000n
export const FIRST_STATE: BranchState = {
  holdings: Array.from({ length: HOLDERS }, () => FIRST_HELD),
  reserves: FIRST_RESERVES,
}
/** Traded in a recording (`pumpfun_sell_0`), so that who holds it is followed. */
export const MOVED_TOKEN = { mint: 'CnNVDyM7GXBBcH8giuRYm17YCn6kpFTTbnd6Tx4hpump', decimals: 6 }

type Kind = 'recorded' | 'failed' | 'garbled' | 'pool' | 'vote' | 'lamports' | 'tokens'
type Weights = Readonly<Record<Kind, number>>

/** Trades first: on mainnet most transactions are votes. */
const WEIGHTS: Weights = { recorded: 6, failed: 1, garbled: 0.3, pool: 2, vote: 2, lamports: 1, tokens: 2 }

export type ContentOptions = {
  /** Both included. */
  transactions: readonly [least: number, most: number]
  weights?: Partial<Weights>
  /** Which recordings are repeated, by name; else all. */
  isRepeated?: (name: string) => boolean
}

export type Content = { transactions: JsonTransaction[]; trades: PoolTrade[]; state: BranchState }

/** `name`: of the block, unlike any other's. */
export function blockContent(
  name: string,
  previousBlockhash: string,
  before: BranchState,
  random: Random,
  { transactions: [least, most], weights = {}, isRepeated = () => true }: ContentOptions,
): Content {
  const recordings = recordedTransactions().filter(
    (each) => !each.name.startsWith(MOVING_RECORDING) && isRepeated(each.name),
  )
  const hasRecordings = recordings.length > 0
  const wanted = Object.entries({ ...WEIGHTS, ...weights }) as [Kind, number][]
  const kinds = wanted.map(([kind, weight]) => [hasRecordings || isPlain(kind) ? weight : 0, kind] as const)
  const holdings = [...before.holdings]
  let { reserves } = before
  const trades: PoolTrade[] = []
  const transactions = Array.from({ length: random.int(least, most) }, (_, at) => someTransaction(`${name} ${at}`))
  return { transactions, trades, state: { holdings, reserves } }

  function someTransaction(own: string): JsonTransaction {
    switch (random.weighted(kinds)) {
      case 'recorded':
        return repeated(random.pick(recordings).value, own, previousBlockhash)
      case 'failed':
        return failed(repeated(random.pick(recordings).value, own, previousBlockhash))
      case 'garbled': {
        const some = random.pick(recordings.filter((each) => each.name.includes(GARBLED)))
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
    trades.push(trade)
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

const isPlain = (kind: Kind): boolean => kind === 'vote' || kind === 'lamports' || kind === 'tokens'
