/**
 * A generated day of a Uniswap v3 pool: raw logs as the contract emits them (v3-core: IUniswapV3PoolEvents), what an independent decoder
 * would read from them, the recording of it, and sums by minute. Amounts follow a constant product.
 */
import { createHash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3'
import type { EvmLog } from '../../../services/ingest/decode/evm/log.js'
import type { Venue } from '../../../services/ingest/decode/evm/venue.js'
import { createRandom } from '../market/random.js'
import type { RecordingBlock, RecordingEvent } from '../reference/lines.js'

/** What an independent decoder reads from a log; amounts are the pool’s, signed. */
export type DecodedLog = {
  place: string
  type: string
  sender: string
  recipient: string
  amount0: string
  amount1: string
  sqrtPrice: string
}

/** Raw sums per minute: what was paid in, and what the pool gained. */
export type Minute = { in0: bigint; in1: bigint; net0: bigint; net1: bigint }

const topicOf = (signature: string): string => `0x${Buffer.from(keccak_256(signature)).toString('hex')}`
const TOPICS = {
  SWAP: topicOf('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  MINT: topicOf('Mint(address,address,int24,int24,uint128,uint256,uint256)'),
  BURN: topicOf('Burn(address,int24,int24,uint128,uint256,uint256)'),
  COLLECT: topicOf('Collect(address,address,int24,int24,uint128,uint128)'),
}
type Type = keyof typeof TOPICS

const BLOCKS = 900
const SECONDS_APART = 96
const FIRST_TIME_S = Date.UTC(2024, 0, 5) / 1000
const FIRST_BLOCK = 18_900_000
const TICKS = [word(-200_000n), word(-190_000n)]

export function generateDay(pool: Venue) {
  const random = createRandom(20_240_105)
  const [usdc = '', weth = ''] = pool.tokens
  let reserves = [100_000_000_000_000n, 45_000_000_000_000_000_000_000n] as [bigint, bigint]
  const lines: RecordingBlock[] = []
  const logs: EvmLog[] = []
  const decoded: DecodedLog[] = []
  const minutes = new Map<number, Minute>()

  for (let at = 0; at < BLOCKS; at += 1) {
    const number = FIRST_BLOCK + at * 8
    const time = FIRST_TIME_S + at * SECONDS_APART
    const events: RecordingEvent[] = at === 0 ? announced() : []
    const count = at === 0 ? 0 : random.int(1, 2)
    for (let index = 1; index <= count; index += 1) events.push(happening(number, time, index))
    const block = { number, time, hash: hashOf(`block ${at}`), parent_hash: hashOf(`block ${at - 1}`) }
    lines.push({ chain: 'eth', ...block, finalized_number: number - 64, events })
  }
  return { lines, logs, decoded, minutes }

  function announced(): RecordingEvent[] {
    const place = (log_index: number) => ({ tx_index: 0, log_index, tx_hash: hashOf('opening') })
    return [
      { type: 'token', token: usdc, name: 'USD Coin', symbol: 'USDC', decimals: 6, ...place(0) },
      { type: 'token', token: weth, name: 'Wrapped Ether', symbol: 'WETH', decimals: 18, ...place(1) },
      { type: 'pool', pool: pool.id, amm: pool.amm, token0: usdc, token1: weth, fee: 500, ...place(2) },
    ]
  }

  /** A swap, or liquidity added or removed. */
  function happening(block: number, time: number, index: number): RecordingEvent {
    const place = { tx_index: index * 7, log_index: index * 20, tx_hash: hashOf(`transaction ${block} ${index}`) }
    const [sender, recipient] = [addressOf(`sender ${random.int(1, 9)}`), addressOf(`wallet ${random.int(1, 40)}`)]
    const named = { pool: pool.id, amm: pool.amm, sender }
    if (random.chance(0.05)) {
      const isAdded = random.chance(0.5)
      const share = BigInt(random.int(500, 5_000))
      const amounts: [bigint, bigint] = [reserves[0] / share, reserves[1] / share]
      const words = [word(share), word(amounts[0]), word(amounts[1])]
      if (isAdded) {
        write('MINT', place, block, [padded(sender), ...TICKS], [padded(sender), ...words], { sender, amounts })
        reserves = [reserves[0] + amounts[0], reserves[1] + amounts[1]]
      } else {
        write('BURN', place, block, [padded(sender), ...TICKS], words, { sender, amounts })
        // Burnt liquidity leaves the pool only when it is collected.
        const next = { ...place, log_index: place.log_index + 1 }
        const paid = [padded(recipient), word(amounts[0]), word(amounts[1])]
        write('COLLECT', next, block, [padded(sender), ...TICKS], paid, { sender, amounts })
        reserves = [reserves[0] - amounts[0], reserves[1] - amounts[1]]
      }
      const change = { kind: isAdded ? ('add' as const) : ('remove' as const), wallet: sender }
      return { type: 'liquidity', ...place, ...named, ...change, amount0: `${amounts[0]}`, amount1: `${amounts[1]}` }
    }
    const side = random.pick([0, 1] as const)
    const other = side === 0 ? 1 : 0
    const amountIn = reserves[side] / BigInt(random.int(2_000, 200_000))
    const counted = amountIn - amountIn / 2_000n
    const amountOut = (reserves[other] * counted) / (reserves[side] + counted)
    const amounts: [bigint, bigint] = side === 0 ? [amountIn, -amountOut] : [-amountOut, amountIn]
    reserves = [reserves[0] + amounts[0], reserves[1] + amounts[1]]
    const sqrtPrice = squareRoot((reserves[1] << 192n) / reserves[0])
    const words = [word(amounts[0]), word(amounts[1]), word(sqrtPrice), word(10n ** 18n), word(-195_000n)]
    write('SWAP', place, block, [padded(sender), padded(recipient)], words, { sender, recipient, amounts, sqrtPrice })
    addToMinute(Math.floor(time / 60) * 60, amounts)
    const [token_in, token_out] = side === 0 ? [usdc, weth] : [weth, usdc]
    const trade = { token_in, amount_in: `${amountIn}`, token_out, amount_out: `${amountOut}` }
    return { type: 'swap', ...place, ...named, recipient, wallet: recipient, ...trade, sqrt_price: `${sqrtPrice}` }
  }

  function write(
    type: Type,
    { tx_index, log_index, tx_hash }: { tx_index: number; log_index: number; tx_hash: string },
    block: number,
    indexed: readonly string[],
    words: readonly string[],
    values: { sender: string; recipient?: string; amounts: readonly [bigint, bigint]; sqrtPrice?: bigint },
  ): void {
    const topics = [TOPICS[type], ...indexed.map((text) => `0x${text}`)]
    const place = { blockNumber: block, txHash: tx_hash, txIndex: tx_index, logIndex: log_index }
    logs.push({ address: pool.id, topics, data: `0x${words.join('')}`, blockHash: hashOf(`block ${block}`), ...place })
    decoded.push({
      ...{ place: `${block}:${tx_index}:${log_index}:${tx_hash}`, type, sender: values.sender },
      ...{ recipient: values.recipient ?? '', amount0: `${values.amounts[0]}`, amount1: `${values.amounts[1]}` },
      sqrtPrice: values.sqrtPrice === undefined ? '' : `${values.sqrtPrice}`,
    })
  }

  function addToMinute(time: number, [amount0, amount1]: readonly [bigint, bigint]): void {
    const { in0, in1, net0, net1 } = minutes.get(time) ?? { in0: 0n, in1: 0n, net0: 0n, net1: 0n }
    minutes.set(time, {
      ...{ in0: amount0 > 0n ? in0 + amount0 : in0, in1: amount1 > 0n ? in1 + amount1 : in1 },
      ...{ net0: net0 + amount0, net1: net1 + amount1 },
    })
  }
}

const digest = (text: string): string => createHash('sha256').update(`generated day ${text}`).digest('hex')
const hashOf = (text: string): string => `0x${digest(text)}`
const addressOf = (text: string): string => `0x${digest(text).slice(0, 40)}`
const padded = (address: string): string => address.slice(2).padStart(64, '0')

/** 32 bytes, negative values in two’s complement. */
function word(value: bigint): string {
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
}

function squareRoot(value: bigint): bigint {
  let [root, next] = [value, 1n << BigInt(Math.ceil(value.toString(2).length / 2))]
  while (next < root) [root, next] = [next, (next + value / next) / 2n]
  return root
}
