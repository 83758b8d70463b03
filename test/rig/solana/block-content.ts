/** What stands in a block of the made chain: trades recorded on mainnet, some of them failed, between votes and transfers. */
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import type { Random } from '../market/random.js'
import { failed, garbled, lamportTransfer, repeated, tokenTransfer, vote } from './made-transactions.js'
import { recordedTransactions } from './recorded/transactions.js'
import { keyFrom } from './seeded.js'

/** Balances of one token that transfers change: they follow from the blocks below, on every branch its own. */
export type Holdings = readonly bigint[]

/** The recordings that are also garbled: a program's log there tells what its transfers tell. */
const GARBLED = 'raydiumLiquidityPoolV4_swap'
const HOLDERS = 6
const FIRST_HELD = 1_000_000_000n
export const FIRST_HOLDINGS: Holdings = Array.from({ length: HOLDERS }, () => FIRST_HELD)

type Kind = 'trade' | 'failed' | 'garbled' | 'vote' | 'lamports' | 'tokens'

export type ContentOptions = {
  /** Both included. */
  transactions: readonly [least: number, most: number]
  /** Of the recordings, by name; all, where it is not given. */
  only?: (name: string) => boolean
}

export type Content = { transactions: JsonTransaction[]; holdings: Holdings }

/** `name`: of the block, unlike any other's. */
export function blockContent(
  name: string,
  previousBlockhash: string,
  before: Holdings,
  random: Random,
  { transactions: [least, most], only = () => true }: ContentOptions,
): Content {
  const recordings = recordedTransactions().filter((each) => only(each.name))
  const garbledOnes = recordings.filter(({ name: recorded }) => recorded.includes(GARBLED))
  const holdings = [...before]
  const transactions = Array.from({ length: random.int(least, most) }, (_, at) => someTransaction(`${name} ${at}`))
  return { transactions, holdings }

  function someTransaction(own: string): JsonTransaction {
    const kinds: (readonly [number, Kind])[] = [
      [recordings.length === 0 ? 0 : 6, 'trade'],
      [recordings.length === 0 ? 0 : 1, 'failed'],
      [garbledOnes.length === 0 ? 0 : 0.3, 'garbled'],
      [2, 'vote'],
      [1, 'lamports'],
      [2, 'tokens'],
    ]
    switch (random.weighted(kinds)) {
      case 'trade':
        return repeated(random.pick(recordings).value, own, previousBlockhash)
      case 'failed':
        return failed(repeated(random.pick(recordings).value, own, previousBlockhash))
      case 'garbled':
        return garbled(repeated(random.pick(garbledOnes).value, own, previousBlockhash))
      case 'vote':
        return vote(own, previousBlockhash)
      case 'lamports':
        return lamportTransfer(own, previousBlockhash, random.int(1, 1_000_000))
      case 'tokens':
        return moveTokens(own)
    }
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

/** Traded in a recording (`pumpfun_sell_0`), so that who holds it is followed. */
export const MOVED_TOKEN = { mint: 'CnNVDyM7GXBBcH8giuRYm17YCn6kpFTTbnd6Tx4hpump', decimals: 6 }
