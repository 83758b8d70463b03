/** A day of a real pool as it was recorded from the chain, where the shared files are. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { repositoryRoot } from '../../../../schemas/avro.js'
import type { EvmLog } from '../../../../services/ingest/decode/evm/log.js'
import type { Venue } from '../../../../services/ingest/decode/evm/venue.js'

const DATA = join(repositoryRoot(), '../shared/data')
const DAY = join(DATA, 'evm/usdc-weth-0.05pct-2024-01-05')
export const RECORDING = join(DATA, 'recordings/usdc-weth-2024-01-05.jsonl.gz')
export const hasDay = existsSync(DATA)

export const DAY_POOL: Venue = {
  id: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  protocol: 'uniswap-v3',
  amm: 'uniswapv3',
  tokens: ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  fee: 500,
  creator: null,
}

export function readDay(): EvmLog[] {
  return readCsv('raw.csv.gz').map(
    ({ block_number, transaction_hash = '', transaction_index, log_index, topics, data = '' }) => ({
      address: DAY_POOL.id,
      topics: (topics ?? '').match(/0x[0-9a-f]+/g) ?? [],
      data,
      blockNumber: Number(block_number),
      blockHash: `0x${'0'.repeat(64)}`,
      txHash: transaction_hash,
      txIndex: Number(transaction_index),
      logIndex: Number(log_index),
    }),
  )
}

/** Fields are plain but for one in double quotes that holds commas. */
export function readCsv(file: string): Record<string, string>[] {
  const [head = '', ...lines] = gunzip(join(DAY, file)).trimEnd().split(/\r?\n/)
  const names = head.split(',')
  return lines.map((line) => {
    const fields = line.match(/("[^"]*"|[^,]*)(?:,|$)/g) ?? []
    return Object.fromEntries(
      names.map((name, place) => [name, (fields[place] ?? '').replace(/,$/, '').replaceAll('"', '')]),
    )
  })
}

export function gunzip(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8')
}
