/** Small handwritten recordings: whole units of tokens with 6 decimals, each block linked to the one before. */
import type { ChainFacts } from '../../services/core/domain/chains.js'
import type { EventFacts } from './market/writer.js'
import type { RecordingBlock, RecordingLine } from './reference/lines.js'
import { type Reference, type ReferencePair, type ReferenceToken, recompute } from './reference/recompute.js'

export const MONEY: ChainFacts = {
  ...{ chain: 't', family: 'evm', title: 't' },
  ...{ anchor: 'usd', stables: ['usdt'], native: 'nat', majors: ['maj'] },
}

/** 2024-01-08 00:00:00 UTC, a Monday. */
export const MONDAY = 1_704_672_000

export const raw = (units: number): string => String(BigInt(Math.round(units * 1e6)))

export const token = (name: string, decimals: number | null = 6): EventFacts => ({
  type: 'token',
  token: name,
  decimals,
  name,
  symbol: name,
})

export const pool = (name: string, token0: string, token1: string): EventFacts => ({
  type: 'pool',
  pool: name,
  amm: 'x',
  token0,
  token1,
})

type Reserves = { reserve0?: string; reserve1?: string; sqrt_price?: string }
export const reserves = (units0: number, units1: number): Reserves => ({ reserve0: raw(units0), reserve1: raw(units1) })

export function liquidity(name: string, units0: number, units1: number): EventFacts {
  const amounts = { amount0: raw(units0), amount1: raw(units1) }
  return {
    type: 'liquidity',
    pool: name,
    amm: 'x',
    kind: 'add',
    sender: 's',
    wallet: 's',
    ...amounts,
    ...reserves(units0, units1),
  }
}

export function rawSwap(
  name: string,
  give: [string, string],
  take: [string, string],
  extra: Reserves & { wallet?: string } = {},
): EventFacts {
  const people = { sender: 's', recipient: 'r', wallet: 'w' }
  const legs = { token_in: give[0], amount_in: give[1], token_out: take[0], amount_out: take[1] }
  return { type: 'swap', pool: name, amm: 'x', ...people, ...legs, ...extra }
}

/** `swap('p', 10, 'usd', 5, 'a')`: 10 usd go in, 5 a come out. */
export function swap(
  name: string,
  give: number,
  tokenIn: string,
  take: number,
  tokenOut: string,
  extra: Parameters<typeof rawSwap>[3] = {},
): EventFacts {
  return rawSwap(name, [tokenIn, raw(give)], [tokenOut, raw(take)], extra)
}

export type Tape = {
  lines: RecordingLine[]
  block(time: number, ...events: EventFacts[]): Tape
  read(money?: ChainFacts): Reference
}

/** Starts with a block that describes usd, usdt, nat, maj, a, b, c, d and e. */
export function tape(): Tape {
  const lines: RecordingBlock[] = []
  const made: Tape = {
    lines,
    block(time, ...events) {
      const number = lines.length + 1
      const placed = events.map((event, at) => ({ ...event, tx_index: at, log_index: at, tx_hash: `t${number}.${at}` }))
      const links = { number, hash: `h${number}`, parent_hash: `h${number - 1}`, time, finalized_number: 0 }
      lines.push({ chain: 't', ...links, events: placed as RecordingBlock['events'] })
      return made
    },
    read: (money = MONEY) => recompute(lines, money),
  }
  return made.block(MONDAY, ...['usd', 'usdt', 'nat', 'maj', 'a', 'b', 'c', 'd', 'e'].map((name) => token(name)))
}

export function pairOf(reference: Reference, name: string): ReferencePair {
  const pair = reference.pairs.get(name)
  if (pair === undefined) throw new Error(`no pair ${name}`)
  return pair
}

export function tokenOf(reference: Reference, name: string): ReferenceToken {
  const found = reference.tokens.get(name)
  if (found === undefined) throw new Error(`no token ${name}`)
  return found
}
