/** Builds a generated transaction: its traders, its pools, and the events a decoder must find in it. */
import type { LaunchEvent, LiquidityEvent, SwapEvent, TokenEvent } from '../../../../services/core/domain/records.js'
import { decodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { TOKEN, TOKEN_2022, WRAPPED_SOL } from '../../../../services/ingest/decode/solana/native-programs.js'
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import type { Random } from '../../market/random.js'
import { keyFrom } from '../seeded.js'
import { Runtime, SOL, type Token } from './runtime.js'

type Some<E extends { type: string }> = Pick<E, Extract<'type', keyof E>> & Partial<E>
export type ExpectedEvent = Some<SwapEvent> | Some<LiquidityEvent> | Some<LaunchEvent> | Some<TokenEvent>

export type Both<T> = readonly [T, T]
/** A pool with a vault of each token. */
export type Pair = { address: string; tokens: Both<Token>; vaults: Both<string> }

/** `side`: of the token that is paid in. Amounts are as sent; a token with a transfer fee arrives with less. */
export type Trade = {
  pair: Pair
  side: 0 | 1
  source: string
  destination: string
  amountIn: bigint
  amountOut: bigint
}

export const USDC: Token = {
  ...{ mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6, programId: TOKEN, feeBasisPoints: 0n },
}

const FEE_BASIS_POINTS = 25n

export class Scene {
  readonly expected: ExpectedEvent[] = []
  readonly trader: string
  readonly runtime: Runtime
  private readonly opened: string[] = []

  /** `name`: all keys are derived from it. */
  constructor(
    readonly name: string,
    readonly random: Random,
  ) {
    this.trader = keyFrom(`trader of ${name}`)
    // Sometimes a service pays the fee.
    const payer = random.chance(0.2) ? [keyFrom(`payer of ${name}`)] : []
    this.runtime = new Runtime(name, [...payer, this.trader])
  }

  key(label: string): string {
    return keyFrom(`${label} of ${this.name}`)
  }

  /** Accounts that are not read. */
  others(count: number, label: string): string[] {
    return Array.from({ length: count }, (_, at) => this.key(`${label} ${at}`))
  }

  token(label: string, decimals = 6): Token {
    return { mint: this.key(`mint ${label}`), decimals, programId: TOKEN, feeBasisPoints: 0n }
  }

  /** A Token-2022 mint that withholds a part of every transfer. */
  feeToken(label: string): Token {
    return { ...this.token(label), programId: TOKEN_2022, feeBasisPoints: BigInt(this.random.int(1, 500)) }
  }

  amount(least: number, most: number): bigint {
    return BigInt(this.random.int(least, most))
  }

  /** `isSorted`: the program orders the mints by their bytes. */
  pair(label: string, tokens: Both<Token>, isSorted = false): Pair {
    const [first, second] = tokens
    const isTurned = isSorted && Buffer.compare(decodeBase58(first.mint), decodeBase58(second.mint)) > 0
    const ordered: Both<Token> = isTurned ? [second, first] : [first, second]
    const address = this.key(`pool ${label}`)
    const vault = (side: 0 | 1): string =>
      this.runtime.hold(this.key(`vault ${side} ${label}`), ordered[side], address, this.amount(1e9, 9e12))
    return { address, tokens: ordered, vaults: [vault(0), vault(1)] }
  }

  /** In either direction, a share of what the pool has. */
  trade(pair: Pair): Trade {
    const side = this.random.pick([0, 1] as const)
    const [reserveIn] = this.reserves(pair, side)
    const amountIn = reserveIn / this.amount(50, 5000)
    const source = this.purse(pair.tokens[side], amountIn)
    return this.tradeBetween(pair, side, source, this.purse(pair.tokens[side === 0 ? 1 : 0], 0n), amountIn)
  }

  /** At a constant product. */
  tradeBetween(pair: Pair, side: 0 | 1, source: string, destination: string, amountIn: bigint): Trade {
    const [reserveIn, reserveOut] = this.reserves(pair, side)
    const arrived = amountIn - withheld(pair.tokens[side], amountIn)
    const counted = arrived - (arrived * FEE_BASIS_POINTS) / 10_000n
    const amountOut = (reserveOut * counted) / (reserveIn + counted)
    return { pair, side, source, destination, amountIn, amountOut }
  }

  /** Of the token at `side`, then of the other. */
  reserves({ vaults }: Pair, side: 0 | 1): Both<bigint> {
    const [reserve0, reserve1] = [this.runtime.balanceOf(vaults[0]), this.runtime.balanceOf(vaults[1])]
    return side === 0 ? [reserve0, reserve1] : [reserve1, reserve0]
  }

  /** The trader’s account of a token with at least this amount; for SOL often a temporary one. */
  purse(token: Token, amount: bigint): string {
    if (token.mint === WRAPPED_SOL && this.random.chance(0.6)) {
      const account = this.runtime.wrap(this.trader, amount)
      this.opened.push(account)
      return account
    }
    if (amount === 0n && this.random.chance(0.3)) return this.runtime.open(this.trader, token)
    return this.runtime.give(this.trader, token, amount + this.amount(0, 1e9))
  }

  /** Both transfers of a trade. Returns what arrived on either end. */
  settle({ pair, side, source, destination, amountIn, amountOut }: Trade): { paid: bigint; got: bigint } {
    const isChecked = this.random.chance(0.5)
    const paid = this.runtime.transfer(source, pair.vaults[side], amountIn, isChecked)
    const got = this.runtime.transfer(pair.vaults[side === 0 ? 1 : 0], destination, amountOut, isChecked)
    return { paid, got }
  }

  expectSwap(amm: string, { pair, side, amountIn }: Trade, got: bigint, more: Partial<SwapEvent>): void {
    const [tokenIn, tokenOut] = [pair.tokens[side], pair.tokens[side === 0 ? 1 : 0]]
    this.expected.push({
      ...{ type: 'swap', amm, pool: pair.address, sender: this.trader, recipient: this.trader, wallet: this.trader },
      ...{ token_in: tokenIn.mint, amount_in: `${amountIn}`, token_out: tokenOut.mint, amount_out: `${got}` },
      ...more,
    })
  }

  expectLiquidity(amm: string, pair: Pair, kind: LiquidityEvent['kind'], amounts: Both<bigint>, more = {}): void {
    this.expected.push({
      ...{ type: 'liquidity', amm, pool: pair.address, kind, sender: this.trader, wallet: this.trader },
      ...{ amount0: `${amounts[0]}`, amount1: `${amounts[1]}`, ...more },
    })
  }

  /** The vaults' contents as events report them. */
  vaultReserves({ vaults }: Pair): { reserve0: string; reserve1: string } {
    return { reserve0: `${this.runtime.balanceOf(vaults[0])}`, reserve1: `${this.runtime.balanceOf(vaults[1])}` }
  }

  /** Closes temporary accounts; the transaction's accounts may be looked up in a table. */
  finish(): JsonTransaction {
    for (const account of new Set(this.opened)) this.runtime.close(account)
    return this.runtime.finish(this.random.chance(0.5))
  }
}

export function withheld({ feeBasisPoints }: Token, amount: bigint): bigint {
  return (amount * feeBasisPoints + 9_999n) / 10_000n
}

/** Both tokens of a change of liquidity, between the trader’s accounts and the vaults. */
export function movedLiquidity(
  scene: Scene,
  pair: Pair,
  isAdded: boolean,
): { users: Both<string>; amounts: Both<bigint> } {
  const { runtime } = scene
  const share = scene.amount(20, 2000)
  const amounts: Both<bigint> = [runtime.balanceOf(pair.vaults[0]) / share, runtime.balanceOf(pair.vaults[1]) / share]
  const users = [0, 1].map((side) => scene.purse(pair.tokens[side as 0 | 1], isAdded ? amounts[side as 0 | 1] : 0n))
  return { users: [users[0] ?? '', users[1] ?? ''], amounts }
}

/** Its transfers, within the program’s call. Returns what arrived. */
export function moveLiquidity(
  scene: Scene,
  { vaults }: Pair,
  isAdded: boolean,
  { users, amounts }: { users: Both<string>; amounts: Both<bigint> },
): Both<bigint> {
  const move = (side: 0 | 1): bigint =>
    isAdded
      ? scene.runtime.transfer(users[side], vaults[side], amounts[side], true)
      : scene.runtime.transfer(vaults[side], users[side], amounts[side], true)
  return [move(0), move(1)]
}

/** A square-root price in Q64.64, from the ratio of the vaults. */
export function sqrtPriceOf(scene: Scene, { vaults }: Pair): bigint {
  const [x, y] = [scene.runtime.balanceOf(vaults[0]), scene.runtime.balanceOf(vaults[1])]
  return squareRoot((y << 128n) / (x === 0n ? 1n : x))
}

function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  let [root, next] = [value, 1n << BigInt(Math.ceil(value.toString(2).length / 2))]
  while (next < root) [root, next] = [next, (next + value / next) / 2n]
  return root
}

export { SOL }
