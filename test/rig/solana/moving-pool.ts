/**
 * A pool whose price moves: Raydium v4 swaps in both directions. Outputs follow the program's formula (raydium-amm: a fee
 * of 0.25 % of the input, then a constant product).
 */
import { TOKEN } from '../../../services/ingest/decode/solana/native-programs.js'
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { PROTOCOL_SHARE, swapRaydiumV4 } from './generated/raydium.js'
import type { Token } from './generated/runtime.js'
import { type Pair, Scene, SOL } from './generated/scene.js'
import { repeated } from './made-transactions.js'
import { keyFrom, randomFrom } from './seeded.js'

export const MOVING_POOL = keyFrom('the moving pool')
/** A token of 6 decimals, against SOL. */
export const MOVING_TOKEN = keyFrom('the token of the moving pool')
const COIN: Token = { mint: MOVING_TOKEN, decimals: 6, programId: TOKEN, feeBasisPoints: 0n }
const COIN_UNIT = 1e6
const SOL_UNIT = 1e9

/** Raw amounts. */
export type Reserves = { coin: bigint; sol: bigint }
export const FIRST_RESERVES: Reserves = { coin: 141_000_000_000n, sol: 357_000_000_000n }

/** `price`: in SOL. */
export type PoolTrade = { price: number; sol: bigint; coin: bigint; isBuy: boolean }

export function poolTrade(
  name: string,
  recentBlockhash: string,
  { isBuy, amountIn }: { isBuy: boolean; amountIn: bigint },
  before: Reserves,
): { transaction: JsonTransaction; trade: PoolTrade; after: Reserves } {
  const [reserveIn, reserveOut] = isBuy ? [before.sol, before.coin] : [before.coin, before.sol]
  const paid = amountIn - (amountIn * 25n) / 10_000n
  const amountOut = (reserveOut * paid) / (reserveIn + paid)
  const [sol, coin] = isBuy ? [amountIn, amountOut] : [amountOut, amountIn]
  const after = isBuy
    ? { coin: before.coin - coin, sol: before.sol + sol }
    : { coin: before.coin + coin, sol: before.sol - sol }
  const price = Number(sol) / SOL_UNIT / (Number(coin) / COIN_UNIT)
  const transaction = repeated(swapOf(name, { isBuy, amountIn, amountOut, before }), name, recentBlockhash)
  return { transaction, trade: { price, sol, coin, isBuy }, after }
}

type Amounts = { isBuy: boolean; amountIn: bigint; amountOut: bigint; before: Reserves }

function swapOf(name: string, { isBuy, amountIn, amountOut, before }: Amounts): JsonTransaction {
  const scene = new Scene('the moving pool', randomFrom(name))
  const hold = (label: string, token: Token, amount: bigint) =>
    scene.runtime.hold(scene.key(label), token, scene.key('authority'), amount + PROTOCOL_SHARE)
  const vaults = [hold('coin vault', COIN, before.coin), hold('SOL vault', SOL, before.sol)] as const
  const pair: Pair = { address: MOVING_POOL, tokens: [COIN, SOL], vaults }
  const [paidWith, bought] = isBuy ? [SOL, COIN] : [COIN, SOL]
  const source = scene.purse(paidWith, amountIn)
  const destination = scene.purse(bought, 0n)
  swapRaydiumV4(scene, { pair, side: isBuy ? 1 : 0, source, destination, amountIn, amountOut }, false)
  return scene.finish()
}
