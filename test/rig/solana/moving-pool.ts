/**
 * A pool whose price moves: a Raydium v4 swap recorded on mainnet, with other amounts wherever they stand (the instruction, its transfers, the program's
 * own record, the balances), in either direction. What it pays follows from its reserves, as the program has it (raydium-amm: 0.25 % of what comes in, then
 * a constant product).
 */
import { decodeBase58, encodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { repeated } from './made-transactions.js'
import { recordedTransactions } from './recorded/transactions.js'

/** In the chain it stands only with its amounts changed. */
export const MOVING_RECORDING = 'vixen/54MFrVcfzQEnfMCQo2KtRJErGBnr2rgJ7ShAQ8mpr61F'
export const MOVING_POOL = 'E2LhpiJdbHx6Fbz2zGAcbbrbMPkn88TpMHP4g236oBZi'
/** Its token of 6 decimals, against SOL. */
export const MOVING_TOKEN = 'FTScF4TvRPRFKjgVEg9G96CqPrzumLDLmV1Kr7JQzQrg'
const COIN_UNIT = 1e6
const SOL_UNIT = 1e9

/** Raw. */
export type Reserves = { coin: bigint; sol: bigint }
export const FIRST_RESERVES: Reserves = { coin: 141_107_246_966n, sol: 357_565_474_241n }

/** `price`: in SOL. */
export type PoolTrade = { price: number; sol: bigint; coin: bigint; isBuy: boolean }

/** By place among the recording's accounts: the wallet's and the pool's. */
const PLACES = { wallet: 0, walletSol: 1, coinVault: 5, solVault: 6, walletCoin: 13 }
const RECORD = 'Program log: ray_log: '

type TokenBalance = { accountIndex: number; uiTokenAmount: { amount: string } }

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
  const transaction = withAmounts(repeated(recorded(), name, recentBlockhash), { isBuy, amountIn, amountOut, before })
  return { transaction, trade: { price, sol, coin, isBuy }, after }
}

function recorded(): JsonTransaction {
  const found = recordedTransactions().find(({ name }) => name.startsWith(MOVING_RECORDING))
  if (found === undefined) throw new Error(`no recording ${MOVING_RECORDING}`)
  return found.value
}

type Amounts = { isBuy: boolean; amountIn: bigint; amountOut: bigint; before: Reserves }

function withAmounts({ transaction, meta, version }: JsonTransaction, amounts: Amounts): JsonTransaction {
  const { isBuy, amountIn, amountOut, before } = amounts
  const { walletSol, walletCoin, coinVault, solVault } = PLACES
  const [source, target] = isBuy ? [walletSol, walletCoin] : [walletCoin, walletSol]
  const [into, outOf] = isBuy ? [solVault, coinVault] : [coinVault, solVault]
  const instructions = transaction.message.instructions.map((each) => {
    const [tag] = decodeBase58(each.data)
    if (each.accounts.length !== 18 || tag !== 9) return each
    const [, , owner = 0] = each.accounts.slice(15)
    const data = encodeBase58(u64s(Uint8Array.of(9), amountIn, 0n))
    return { ...each, accounts: [...each.accounts.slice(0, 15), source, target, owner], data }
  })
  const [group] = meta.innerInstructions
  const [pay, get] = group?.instructions ?? []
  if (group === undefined || pay === undefined || get === undefined) throw new Error('the recording has no transfers')
  const transfer = (amount: bigint) => encodeBase58(u64s(Uint8Array.of(3), amount))
  const inner = [
    { ...pay, accounts: [source, into, pay.accounts[2] ?? 0], data: transfer(amountIn) },
    { ...get, accounts: [outOf, target, get.accounts[2] ?? 0], data: transfer(amountOut) },
  ]
  const record = u64s(Uint8Array.of(3), amountIn, 0n, isBuy ? 1n : 2n, amountIn, before.coin, before.sol, amountOut)
  const logMessages = (meta.logMessages as string[]).map((line) =>
    line.startsWith(RECORD) ? `${RECORD}${Buffer.from(record).toString('base64')}` : line,
  )
  const [coinOut, solIn] = isBuy ? [amountOut, amountIn] : [-amountIn, -amountOut]
  return {
    ...(version === undefined ? {} : { version }),
    transaction: { ...transaction, message: { ...transaction.message, instructions } },
    meta: {
      ...meta,
      logMessages,
      innerInstructions: [{ ...group, instructions: inner }],
      preTokenBalances: withTokens(meta.preTokenBalances, { ...before, walletCoin: amountIn }),
      postTokenBalances: withTokens(meta.postTokenBalances, {
        ...{ coin: before.coin - coinOut, sol: before.sol + solIn },
        walletCoin: amountIn + coinOut,
      }),
    },
  }
}

function withTokens(balances: unknown, held: { coin: bigint; sol: bigint; walletCoin: bigint }): TokenBalance[] {
  const byPlace = new Map([
    [PLACES.coinVault, held.coin],
    [PLACES.solVault, held.sol],
    [PLACES.walletCoin, held.walletCoin],
  ])
  return (balances as TokenBalance[]).map((balance) => {
    const amount = byPlace.get(balance.accountIndex)
    if (amount === undefined) return balance
    return { ...balance, uiTokenAmount: { ...balance.uiTokenAmount, amount: amount.toString() } }
  })
}

function u64s(tag: Uint8Array, ...values: readonly bigint[]): Uint8Array {
  const bytes = Buffer.alloc(tag.length + values.length * 8)
  bytes.set(tag)
  for (const [at, value] of values.entries()) bytes.writeBigUInt64LE(value, tag.length + at * 8)
  return bytes
}
