/** A recording played at a set pace with subscribers: each trade once, final candles, and reorgs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { changeOf, exactDecimal, readNumber } from '../rig/http/decimals.js'
import { barsOf } from '../rig/http/expected-candles.js'
import { windowChange, windowNamed } from '../rig/http/expected-pair.js'
import { deriveExpectedPushes, type ExpectedPushes } from '../rig/http/expected-pushes.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { KEY, startUp, type Up } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { bucketStart, INTERVAL_SECONDS } from '../rig/reference/candles.js'
import { differences } from '../rig/reference/compare.js'
import { acceptedBlocks, isRetract } from '../rig/reference/lines.js'
import { recompute } from '../rig/reference/recompute.js'
import { type Client, connect, type Frame } from '../serve/push-client.js'

const CHAIN = 'eth'
const money = marketMoney(CHAIN)
const options = {
  ...{ secondsPerBlock: 2, swapsPerBlock: 6, quietHour: 0, quietDay: 0, maxTimeBackS: 20 },
  retracts: { probability: 0.08, maxDepth: 4 },
}
const lines = generateRecording({ seed: 401, chain: CHAIN, blocks: 170, options })
/** Lines played before the client subscribes. */
const LISTEN_AFTER = 15

type Result = Record<string, unknown> & { cursor: string }
type Push = { seq: number; n: number; result: Result }

let up: Up
let client: Client
let expectation: ExpectedPushes
let pairs: string[]
const frames: Frame[] = []
const sinceSeq = new Map<string, number>()

beforeAll(async () => {
  expectation = deriveExpectedPushes(lines, money)
  const byTrades = [...expectation.reference.pairs].sort(([, a], [, b]) => b.tx_count - a.tx_count)
  pairs = byTrades.slice(0, 2).map(([pair]) => pair)
  const folder = scratchFolder()
  const events = writeRecording(folder, 'paced.jsonl', lines)
  up = await startUp({ folder, events, chains: [money], speed: '30' })
  await up.until(CHAIN, 'began', ({ seq }) => seq >= LISTEN_AFTER)
  client = await connect(up.wsUrl, { 'x-api-key': KEY })
  for (const pair of pairs) {
    await subscribe(`tx ${pair}`, ['tx', pair, CHAIN])
    await subscribe(`k1 ${pair}`, ['kline', pair, 'k1', CHAIN])
    await subscribe(`s1 ${pair}`, ['kline', pair, 's1', CHAIN])
    await subscribe(`price ${pair}`, ['price', [`${pair}-${CHAIN}`]])
  }
  await up.applied(CHAIN, lines.length)
  await client.settle()
  frames.push(...client.frames)
})

afterAll(async () => {
  client.close()
  await up.stop()
  removeScratchFolders()
})

async function subscribe(id: string, params: unknown[]): Promise<void> {
  const { result } = await client.call('subscribe', params, id)
  const [cursor = ''] = (result as { cursor: string[] }).cursor
  sinceSeq.set(id, Number(cursor.split(':')[2]))
}

function pushesOf(id: string): Push[] {
  return frames
    .filter((frame) => frame.id === id && frame.result !== undefined && !('data' in frame.result))
    .map(({ result }) => {
      const [, , seq, n] = (result as Result).cursor.split(':')
      return { seq: Number(seq), n: Number(n), result: result as Result }
    })
}

test('subscribes early enough in the recording', () => {
  for (const since of sinceSeq.values()) expect(since).toBeLessThan(lines.length / 2)
})

test('reports how long blocks took in every stage, from their source to the sockets', async () => {
  const metrics = await up.metrics()
  const countOf = (stage: string) => metrics.get(`dextape_stage_latency_seconds_count{stage="${stage}"}`) ?? 0
  expect(countOf('append')).toBe(lines.length)
  for (const stage of ['fold', 'observe', 'write', 'total']) {
    expect(countOf(stage), stage).toBeGreaterThan(0)
    expect(countOf(stage), stage).toBeLessThanOrEqual(lines.length)
  }
})

test('delivers pushes in cursor order', () => {
  const order = frames
    .map(({ result }) => (result as Result | undefined)?.cursor.split(':').slice(2).map(Number))
    .filter((cursor): cursor is number[] => cursor !== undefined)
  expect(order.length).toBeGreaterThan(200)
  const isAfter = ([seq = 0, n = 0]: number[], [lastSeq = 0, lastN = 0]: number[]): boolean =>
    seq > lastSeq || (seq === lastSeq && n >= lastN)
  expect(order.filter((cursor, at) => at > 0 && !isAfter(cursor, order[at - 1] ?? []))).toEqual([])
})

describe.each([0, 1])('the pair with rank %d by trades', (rank) => {
  const pair = (): string => pairs[rank] ?? ''
  const facts = () => {
    const found = expectation.reference.pairs.get(pair())
    if (found === undefined) throw new Error('no such pair')
    return found
  }

  test('pushes each trade once with the reference’s numbers, and retracts after a reorg', () => {
    const since = sinceSeq.get(`tx ${pair()}`) ?? 0
    const { target_token, quote_token, token0 } = facts()
    const decimals = (token: string): number | null => expectation.reference.tokens.get(token)?.decimals ?? null
    const expected = expectation.of(pair()).filter(({ seq }) => seq > since)
    const got = pushesOf(`tx ${pair()}`)
    expect(expected.filter(({ kind }) => kind === 'trade').length).toBeGreaterThan(20)
    expect(expected.filter(({ kind }) => kind === 'retract').length).toBeGreaterThan(0)
    const actual = got.map(({ seq, result }) =>
      result.topic === 'retract'
        ? {
            seq,
            id: result.id,
            chain: result.chain,
            to_block: result.to_block,
            ids: [...(result.ids as string[])].sort(),
          }
        : { seq, id: result.id, ...readTx(result.tx as Record<string, unknown>) },
    )
    const wanted = expected.map((push) => {
      if (push.kind === 'retract')
        return { seq: push.seq, id: pair(), chain: CHAIN, to_block: push.toBlock, ids: [...push.ids].sort() }
      const { seq, trade } = push
      const [from, to] = trade.sell ? [target_token, quote_token] : [quote_token, target_token]
      const [reserveFrom, reserveTo] =
        from === token0 ? [trade.reserve0, trade.reserve1] : [trade.reserve1, trade.reserve0]
      const targetPrices = [trade.price_usd, trade.price_native]
      const quotePrices = [trade.quote_usd, trade.quote_native]
      const [fromPrices, toPrices] = trade.sell ? [targetPrices, quotePrices] : [quotePrices, targetPrices]
      return {
        ...{ seq, id: pair(), txId: trade.id, tx_seq: String(trade.tx_seq), block_number: trade.block_number },
        ...{ time: trade.time, transaction: trade.tx_hash, sender: trade.sender, to: trade.recipient },
        ...{ wallet_address: trade.wallet, from_address: from, to_address: to, target_token, pair_address: pair() },
        from_amount: exactDecimal(trade.amount_in, decimals(from)),
        to_amount: exactDecimal(trade.amount_out, decimals(to)),
        from_reserve: exactDecimal(reserveFrom, decimals(from)) ?? '',
        to_reserve: exactDecimal(reserveTo, decimals(to)) ?? '',
        ...{ direction: trade.sell ? 'sell' : 'buy', tx_swap_type: trade.sell ? 1 : 0 },
        ...{ amount_usd: trade.amount_usd, amount_eth: trade.amount_native },
        ...{ from_price_usd: fromPrices[0], from_price_eth: fromPrices[1] },
        ...{ to_price_usd: toPrices[0], to_price_eth: toPrices[1] },
      }
    })
    expect(differences(actual, wanted)).toEqual([])
  })

  test.each(['k1', 's1'] as const)('ends each %s candle with a push of its final state', (interval) => {
    const since = sinceSeq.get(`${interval} ${pair()}`) ?? 0
    const last = new Map<number, Result>()
    for (const { result } of pushesOf(`${interval} ${pair()}`)) last.set(candleTime(result), result)
    const bars = barsOf(expectation.reference)
    const inUsd = new Map(bars.of(pair(), interval, 'u').map((bar) => [bar.time, bar]))
    const inNative = new Map(bars.of(pair(), interval, 'm').map((bar) => [bar.time, bar]))
    const problems: string[] = []
    for (const [time, result] of last) {
      const { usd, eth } = result.kline as Record<'usd' | 'eth', Record<string, unknown>>
      const bar = inUsd.get(time)
      if (bar === undefined) {
        if (result.removed !== true) problems.push(`${time}: not removed`)
        continue
      }
      problems.push(...differences(readBar(usd), withoutFirst(bar), `${time} usd`))
      problems.push(...differences(readBar(eth), withoutFirst(inNative.get(time)), `${time} eth`))
      const isOver = time + INTERVAL_SECONDS[interval] <= expectation.reference.now
      if ((result.final === true) !== isOver) problems.push(`${time}: final is ${String(result.final)}`)
    }
    expect(problems).toEqual([])
    const traded = expectation
      .of(pair())
      .flatMap((push) => (push.kind === 'trade' && push.seq > since ? [push.trade.time] : []))
    const touched = new Set(traded.map((time) => bucketStart(interval, time)).filter((time) => inUsd.has(time)))
    expect([...touched].filter((time) => !last.has(time))).toEqual([])
    expect(last.size).toBeGreaterThan(interval === 's1' ? 15 : 3)
  })

  test('pushes a price entry for each block with a trade, with the state after that block', () => {
    const since = sinceSeq.get(`price ${pair()}`) ?? 0
    const got = pushesOf(`price ${pair()}`)
    const traded = new Set(
      expectation.of(pair()).flatMap(({ kind, seq }) => (kind === 'trade' && seq > since ? [seq] : [])),
    )
    expect([...traded].filter((seq) => got.filter((push) => push.seq === seq).length !== 1)).toEqual([])
    const problems = got
      .filter((_, at) => at % 3 === 0 || at === got.length - 1)
      .flatMap(({ seq, result }) => {
        const [entry] = result.prices as Record<string, unknown>[]
        return differences(readPrice(entry ?? {}), expectedPrice(pair(), seq), String(seq))
      })
    expect(problems).toEqual([])
  })
})

function readTx(tx: Record<string, unknown>): Record<string, unknown> {
  const { id, tx_seq, block_number, time, transaction, sender, to, wallet_address, from_address, to_address } = tx
  const { target_token, pair_address, from_amount, to_amount, from_reserve, to_reserve, direction, tx_swap_type } = tx
  return {
    ...{ txId: id, tx_seq, block_number, time, transaction, sender, to, wallet_address, from_address, to_address },
    ...{ target_token, pair_address, from_amount, to_amount, from_reserve, to_reserve, direction, tx_swap_type },
    ...{ amount_usd: pushed(tx.amount_usd), amount_eth: pushed(tx.amount_eth) },
    ...{ from_price_usd: pushed(tx.from_price_usd), from_price_eth: pushed(tx.from_price_eth) },
    ...{ to_price_usd: pushed(tx.to_price_usd), to_price_eth: pushed(tx.to_price_eth) },
  }
}

/** An unknown number is an empty string in pushes. */
const pushed = (value: unknown): unknown => readNumber(value === '' ? null : value)

const candleTime = (result: Result): number => (result.kline as { usd: { time: number } }).usd.time

function readBar(bar: Record<string, unknown>): object {
  const { open, high, low, close, volume, time } = bar
  return {
    time,
    open: pushed(open),
    high: pushed(high),
    low: pushed(low),
    close: pushed(close),
    volume: pushed(volume),
  }
}

function withoutFirst(bar: { first: number; time: number } | undefined): object {
  const { first: _, ...rest } = bar ?? { first: 0 }
  return rest
}

function readPrice(entry: Record<string, unknown>): object {
  const numbers = [
    'uprice',
    'last_price',
    'price_change',
    'price_change_24h',
    'volume_24_u',
    'change',
    'tvl',
    'makers_24h',
  ]
  const all = [...numbers, 'tx_amount_24h', 'tx_count_24h']
  const { is_main_pair, target_token, reserve0, reserve1, direction } = entry
  return {
    ...{ is_main_pair, target_token, reserve0, reserve1, direction },
    ...Object.fromEntries(all.map((name) => [name, pushed(entry[name])])),
  }
}

/** After a reorg, the previous price is the one before the last surviving block with a trade. */
function priceBefore(address: string, seq: number): number {
  const line = lines[seq - 1]
  if (line === undefined || !isRetract(line)) {
    return recompute(lines.slice(0, seq - 1), money).pairs.get(address)?.price_usd ?? Number.NaN
  }
  const kept = acceptedBlocks(lines.slice(0, seq))
  const { trades } = recompute(kept, money)
  const lastBlock = trades.findLast(({ pair }) => pair === address)?.block_number ?? 0
  const good = trades.filter((trade) => trade.pair === address && trade.flags === 0)
  return good.findLast((trade) => trade.block_number < lastBlock)?.price_usd ?? Number.NaN
}

function expectedPrice(address: string, seq: number): object {
  const after = recompute(lines.slice(0, seq), money)
  const pair = after.pairs.get(address)
  if (pair === undefined) throw new Error(`${address} is not there after line ${seq}`)
  const day = windowNamed(pair.windows, '24h')
  const last = priceBefore(address, seq)
  const token = (name: string) => after.tokens.get(name)
  return {
    is_main_pair: token(pair.target_token)?.main_pair === address,
    target_token: pair.target_token,
    reserve0: exactDecimal(pair.reserve0, token(pair.token0)?.decimals ?? null) ?? '',
    reserve1: exactDecimal(pair.reserve1, token(pair.token1)?.decimals ?? null) ?? '',
    direction: pair.price_usd > last ? 'up' : pair.price_usd < last ? 'down' : 'flat',
    uprice: pair.price_usd,
    last_price: last,
    change: changeOf(last, pair.price_usd),
    price_change: changeOf(pair.price_day_usd, pair.price_usd),
    price_change_24h: windowChange(pair, '24h'),
    volume_24_u: day.buy_volume + day.sell_volume,
    tvl: pair.tvl,
    makers_24h: day.makers,
    tx_amount_24h: day.amount,
    tx_count_24h: day.buys + day.sells,
  }
}
