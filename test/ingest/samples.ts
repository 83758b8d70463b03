import type { ChainFamily } from '../../services/core/domain/chains.js'
import { type ReadLine, readLine } from '../../services/ingest/validate/read-line.js'

export const POOL = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640'
export const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
export const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'

export type Raw = Record<string, unknown>

export const rawSwap = (over: Raw = {}): Raw => ({
  type: 'swap',
  tx_index: 3,
  log_index: 7,
  tx_hash: '0xabc',
  pool: POOL,
  amm: 'uniswapv3',
  sender: '0x01',
  recipient: '0x02',
  wallet: '0x03',
  token_in: WETH,
  amount_in: '1000',
  token_out: USDC,
  amount_out: '2',
  ...over,
})

export const rawBlock = (over: Raw = {}): Raw => ({
  chain: 'eth',
  number: 100,
  hash: '0xb100',
  parent_hash: '0xb099',
  time: 1_704_412_811,
  finalized_number: 36,
  events: [rawSwap()],
  ...over,
})

export const blockAt = (number: number, over: Raw = {}): Raw =>
  rawBlock({ number, hash: `0xb${number}`, parent_hash: `0xb${number - 1}`, time: 1_704_412_000 + number, ...over })

export const family = (chain: string): ChainFamily => (chain === 'solana' ? 'solana' : 'evm')

export const read = (value: unknown): ReadLine =>
  readLine(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), { source: 'file:1', family })

/** [reason, position, block number] of each dead letter. */
export function letters(result: ReadLine): [string, string | null, number | null][] {
  const dead = result.kind === 'dead' ? [result.letter] : result.kind === 'block' ? result.dead : []
  return dead.map(({ reason, position, block_number }) => [reason, position, block_number])
}
