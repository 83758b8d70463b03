/** One day of a Uniswap v3 USDC/WETH pool: a generated one, and the one recorded on mainnet if recordings are available. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { EvmLog } from '../../../services/ingest/decode/evm/log.js'
import type { Venue } from '../../../services/ingest/decode/evm/venue.js'
import { DAY_RECORDING, recordingPath } from '../recordings.js'
import type { RecordingEvent, RecordingLine } from '../reference/lines.js'
import { type DecodedLog, generateDay, type Minute } from './generated-day.js'

export type { Minute }

export const DAY_POOL: Venue = {
  id: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  protocol: 'uniswap-v3',
  amm: 'uniswapv3',
  tokens: ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  fee: 500,
  creator: null,
}

export type Day = {
  name: string
  swaps: number
  liquidity: number
  /** Bounds of all trades, in dollars per WETH. */
  prices: readonly [low: number, high: number]
  lines(): RecordingLine[]
  logs(): EvmLog[]
  decoded(): DecodedLog[]
  minutes(): Map<number, Minute>
}

export function generatedDay(): Day {
  const { lines, logs, decoded, minutes } = generateDay(DAY_POOL)
  const count = (...types: string[]) => decoded.filter(({ type }) => types.includes(type)).length
  return {
    ...{ name: 'a generated day', prices: [1_500, 3_500], swaps: count('SWAP'), liquidity: count('MINT', 'BURN') },
    ...{ lines: () => lines, logs: () => logs, decoded: () => decoded, minutes: () => minutes },
  }
}

const FOLDER = 'evm/usdc-weth-0.05pct-2024-01-05'

/** Only with recordings. */
export function recordedDay(): Day {
  return {
    ...{ name: 'USDC/WETH on 2024-01-05', swaps: 6_046, liquidity: 123, prices: [2_190, 2_300] },
    lines: () =>
      gunzip(DAY_RECORDING)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as RecordingLine),
    logs: () =>
      readCsv('raw.csv.gz').map(
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
      ),
    decoded: () =>
      readCsv('decoded.csv.gz').map((row) => ({
        place: `${row.block_number}:${row.tx_index}:${row.log_index}:${row.transaction_hash}`,
        type: row.tx_type ?? '',
        sender: row.sender ?? '',
        recipient: row.receipt ?? '',
        amount0: row.amount0 ?? '',
        amount1: row.amount1 ?? '',
        sqrtPrice: row.tx_type === 'SWAP' ? (row.sqrtPriceX96 ?? '') : '',
      })),
    minutes: recordedMinutes,
  }
}

/** Swaps and liquidity changes, each with its block number. */
export function tradesOf(lines: readonly RecordingLine[]): (RecordingEvent & { block: number })[] {
  return lines.flatMap((line) =>
    line.kind === 'retract'
      ? []
      : line.events.flatMap((event) =>
          event.type === 'swap' || event.type === 'liquidity' ? [{ block: line.number, ...event }] : [],
        ),
  )
}

function recordedMinutes(): Map<number, Minute> {
  const rows = csvRows(readFileSync(recordingPath(`${FOLDER}/minute.csv`), 'utf8'))
  const minutes = rows.map((row): [number, Minute] => {
    const whole = (name: string): bigint => BigInt(row[name] ?? '')
    const [time = ''] = Object.values(row)
    const sums = { in0: whole('inAmount0'), in1: whole('inAmount1') }
    const nets = { net0: whole('netAmount0'), net1: whole('netAmount1') }
    return [Date.parse(`${time.replace(' ', 'T')}Z`) / 1000, { ...sums, ...nets }]
  })
  return new Map(minutes.filter(([, { in0, in1 }]) => in0 > 0n || in1 > 0n))
}

const readCsv = (file: string) => csvRows(gunzip(recordingPath(`${FOLDER}/${file}`)))

/** Fields are plain, except for one in double quotes that contains commas. */
function csvRows(text: string): Record<string, string>[] {
  const [head = '', ...lines] = text.trimEnd().split(/\r?\n/)
  const names = head.split(',')
  return lines.map((line) => {
    const fields = line.match(/("[^"]*"|[^,]*)(?:,|$)/g) ?? []
    return Object.fromEntries(
      names.map((name, place) => [name, (fields[place] ?? '').replace(/,$/, '').replaceAll('"', '')]),
    )
  })
}

function gunzip(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8')
}
