/** The push interface topic by topic and field by field, against the real process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RecordedPushes, type Result, recordPushes, type Subscription, wantedOf } from '../rig/contract/heard.js'
import { contractMarket } from '../rig/contract/market.js'
import { DECIMAL, fieldProblems, recordProblems } from '../rig/contract/record-problems.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { PACED_TAPE } from '../rig/contract/tape.js'
import { speedFor } from '../rig/up/recording.js'
import { type Client, connect } from '../serve/push-client.js'
import { fields, namesOf } from './interface/fields.js'
import { LIQUIDITY_TYPES } from './interface/operations.js'
import * as pushes from './interface/pushes.js'

const LISTEN_AFTER = 18

/** Of a cursor, or of an acknowledgement's only one. */
const seqOf = (cursor: unknown): number => Number(String(cursor).split(':')[2])

describe('pushes as the interface has them', () => {
  const market = contractMarket(PACED_TAPE)
  let served: Served
  let recorded: RecordedPushes
  let listener: Client

  beforeAll(async () => {
    served = await serveMarket({ market, speed: speedFor(market.lines, 8) })
    await served.up.until('began', async () => {
      const status = await served.up.status()
      return market.chains.every((chain) => (status.get(chain)?.seq ?? 0) >= LISTEN_AFTER)
    })
    listener = await connect(served.ws, { 'x-api-key': KEY })
    recorded = recordPushes(listener)
    await recorded.subscribeAll(market.chains.flatMap((chain) => wantedOf(market, chain, pushes.INTERVALS)))
    await served.played()
    await listener.settle()
  })
  afterAll(async () => {
    listener?.close()
    await served?.stop()
  })

  const subscriptions = (...topics: string[]): Subscription[] =>
    recorded.subscriptions.filter(({ topic }) => topics.includes(topic))
  const resultsOf = (topic: string): Result[] => subscriptions(topic).flatMap((one) => recorded.results(one))
  const isSwitch = (result: Result): boolean => 'data' in result
  const swaps = (topic: string): Result[] => resultsOf(topic).map(({ tx }) => tx as Result)
  const klines = (): Result[] => ['kline', 'multi_kline'].flatMap(resultsOf).filter((result) => !isSwitch(result))
  const entries = (): Result[] => resultsOf('price').flatMap(({ prices }) => prices as Result[])
  const switches = (): Result[] => resultsOf('kline').filter(isSwitch)

  describe.each(pushes.TOPICS)('$topic', ({ topic }) => {
    test('acknowledges each subscribe with its id and a cursor per chain', () => {
      const asked = subscriptions(topic)
      expect(asked.length).toBeGreaterThan(0)
      for (const { id, ack } of asked) {
        const cursor = [expect.stringMatching(/^\d+:\w+:\d+:\d+$/)]
        // Pairs that are created later are not known yet.
        const { unknown = [], unknown_count = 0, ...result } = ack.result ?? {}
        expect({ ...ack, result }).toEqual({ jsonrpc: '2.0', id, result: { status: 'ok', cursor } })
        expect(unknown).toHaveLength(unknown_count as number)
      }
    })

    test('pushes on every chain', () => {
      const chains = subscriptions(topic)
        .filter((one) => recorded.results(one).length > 0)
        .map(({ ack }) => String(ack.result?.cursor).split(':')[1])
      expect([...new Set(chains)].sort()).toEqual([...market.chains].sort())
    })

    test('has exactly four envelope fields, with the current time as sent_time', () => {
      const frames = subscriptions(topic).flatMap(recorded.frames)
      const sent = frames.filter(({ result }) => result !== undefined && !isSwitch(result))
      expect(recordProblems(sent, pushes.ENVELOPE)).toEqual([])
      expect([...new Set(sent.map(({ jsonrpc }) => jsonrpc))]).toEqual(['2.0'])
      expect(sent.filter(({ sent_time }) => Math.abs((sent_time ?? 0) - Date.now()) > 600_000)).toEqual([])
    })

    test('has strictly ascending cursors, except closing candles, which share number 0', () => {
      for (const one of subscriptions(topic)) {
        const ahead = new Map<string, number[]>()
        for (const { result } of recorded.frames(one)) {
          const [, chain = '', seq, n] = String(result?.cursor).split(':')
          const [lastSeq = 0, lastN = -1] = ahead.get(chain) ?? []
          const isAfter = Number(seq) > lastSeq || (Number(seq) === lastSeq && Number(n) > lastN)
          if (!isAfter) expect([result?.cursor, Number(n)]).toEqual([`1:${chain}:${lastSeq}:0`, 0])
          ahead.set(chain, [Number(seq), Number(n)])
        }
      }
    })
  })

  describe.each(['tx', 'multi_tx'] as const)('swaps on %s', (topic) => {
    test('have exactly the fields of a swap', () => {
      expect(recordProblems(swaps(topic), pushes.SWAPS[topic])).toEqual([])
      expect(recordProblems(resultsOf(topic), fields({ text: 'id topic cursor', object: 'tx' }))).toEqual([])
    })

    test('have a consistent topic, id, amounts and direction', () => {
      const problems = resultsOf(topic).flatMap(({ topic: said, id, tx }) => {
        const swap = tx as Record<string, string | number>
        const isSell = swap.from_address === swap.target_token
        const checks = {
          topic: said === 'tx',
          pair: id === swap.pair_address,
          id: new RegExp(`^${swap.block_number}-\\d+(\\.\\d+)?$`).test(String(swap.id)),
          type: swap.tx_swap_type === (isSell ? 1 : 0) && swap.direction === (isSell ? 'sell' : 'buy'),
          target: isSell || swap.to_address === swap.target_token,
          amount: DECIMAL.test(String(swap.from_amount)) || swap.from_amount === '',
        }
        return Object.entries(checks).flatMap(([name, isRight]) =>
          isRight ? [] : [`${name} of ${JSON.stringify(tx)}`],
        )
      })
      expect(problems.slice(0, 3)).toEqual([])
    })
  })

  test('encodes a profile as "" or as an object of eleven fields', () => {
    const texts = swaps('tx').map(({ profile }) => String(profile))
    const profiles = texts.filter((profile) => profile !== '').map((profile) => JSON.parse(profile) as Result)
    expect(profiles.length).toBeGreaterThan(5)
    expect(recordProblems(profiles, pushes.PROFILE)).toEqual([])
  })

  test('counts a pair’s trades in tx_seq without gaps between reorgs', () => {
    for (const one of subscriptions('tx')) {
      const seqs = recorded
        .frames(one)
        .map(({ result }) => (result?.topic === 'tx' ? (result.tx as Result).tx_seq : 'reorg'))
      const jumps = seqs.filter(
        (seq, at) => at > 0 && seq !== 'reorg' && seqs[at - 1] !== 'reorg' && Number(seq) !== Number(seqs[at - 1]) + 1,
      )
      expect(jumps).toEqual([])
    }
  })

  describe('kline', () => {
    test('has every field of a kline and only Dextape’s additions', () => {
      expect(fieldProblems(klines(), pushes.KLINE)).toEqual([])
      const known = [...namesOf(pushes.KLINE), ...pushes.KLINE_EXTRAS]
      const unknown = klines().flatMap((result) => Object.keys(result).filter((name) => !known.includes(name)))
      expect([...new Set(unknown)]).toEqual([])
      expect([...new Set(klines().map((result) => result.topic))]).toEqual(['kline'])
    })

    test.each(['eth', 'usd'] as const)('has exactly the fields of a candle in %s', (side) => {
      const candles = klines().map(({ kline }) => (kline as Record<string, Result>)[side] ?? {})
      expect(recordProblems(candles, pushes.CANDLES[side])).toEqual([])
    })

    test.each(pushes.INTERVALS)('names interval %s as it is for seconds, else in minutes', (interval) => {
      const asked = subscriptions('kline').filter(({ params }) => params[2] === interval)
      const said = asked.flatMap((one) => recorded.results(one).filter((result) => !isSwitch(result)))
      expect([...new Set(said.map((result) => result.interval))]).toEqual([
        interval === 's1' ? 's1' : interval.replace('k', ''),
      ])
    })

    test('pushes the pairs and intervals of a multi_kline subscription', () => {
      for (const one of subscriptions('multi_kline')) {
        const items = one.params.slice(1) as string[][]
        const asked = items.map(([pair, interval, chain]) => `${pair}-${chain} ${interval?.replace('k', '')}`)
        const said = recorded.results(one).filter((result) => !isSwitch(result))
        expect([...new Set(said.map(({ id, interval }) => `${id} ${interval}`))].sort()).toEqual(asked.sort())
      }
    })
  })

  describe('main-pair switch', () => {
    test('has no topic and no sent_time, and status ok', () => {
      const frames = subscriptions('kline').flatMap(recorded.frames).filter(({ result }) => isSwitch(result ?? {})) // biome-ignore format: one step
      expect(frames.length).toBeGreaterThan(0)
      expect(recordProblems(frames, fields({ whole: 'id', text: 'jsonrpc', object: 'result' }))).toEqual([])
      expect(recordProblems(switches(), fields({ object: 'data', text: 'status cursor' }))).toEqual([])
      expect([...new Set(switches().map(({ status }) => status))]).toEqual(['ok'])
    })

    test('has exactly the fields of the switch and the new pair; id is the old pair-id', () => {
      const data = switches().map((result) => result.data as Result)
      const pairs = data.map((one) => one.new_main_pair_data as Result)
      expect(recordProblems(data, pushes.SWITCH)).toEqual([])
      expect(recordProblems(pairs, pushes.NEW_MAIN_PAIR)).toEqual([])
      expect([...new Set(data.map(({ event }) => event))]).toEqual(['switch_main_pair'])
      expect(data.filter(({ id, old_main_pair, chain }) => id !== `${old_main_pair}-${chain}`)).toEqual([])
      expect(data.filter(({ new_main_pair }, at) => pairs[at]?.pair !== new_main_pair)).toEqual([])
    })

    test('reaches every kline subscription of the old and the new pair', () => {
      const byCursor = new Map(switches().map((result) => [result.cursor, result.data as Result]))
      for (const [cursor, { old_main_pair, new_main_pair }] of byCursor) {
        // Without those that were made after it.
        const concerned = subscriptions('kline').filter(
          ({ params, ack }) =>
            [old_main_pair, new_main_pair].includes(params[1]) && seqOf(ack.result?.cursor) < seqOf(cursor),
        )
        const reached = concerned.filter((one) => recorded.results(one).some((result) => result.cursor === cursor))
        expect(reached.map(({ params }) => params)).toEqual(concerned.map(({ params }) => params))
      }
    })
  })

  describe('price', () => {
    test('has one entry per push, with exactly the fields of an entry', () => {
      expect(resultsOf('price').filter(({ prices }) => (prices as unknown[]).length !== 1)).toEqual([])
      expect(recordProblems(resultsOf('price'), fields({ list: 'prices', text: 'topic cursor' }))).toEqual([])
      expect(recordProblems(entries(), pushes.PRICE_ENTRY)).toEqual([])
    })

    test('has the direction of the price change and the ids of its own pair and token', () => {
      const wrong = entries().filter((entry) => {
        const [before, now] = [Number(entry.last_price), Number(entry.uprice)]
        const isKnown = entry.last_price !== '' && entry.uprice !== ''
        const way = isKnown && now > before ? 'up' : isKnown && now < before ? 'down' : 'flat'
        const isNamed = entry.token === entry.target_token && entry.token_id === `${entry.target_token}-${entry.chain}`
        return entry.direction !== way || !isNamed
      })
      expect(wrong.slice(0, 3)).toEqual([])
    })
  })

  describe('liq', () => {
    const items = () => swaps('liq')
    test('has exactly the fields of a liquidity item, with a type of the interface', () => {
      expect(recordProblems(resultsOf('liq'), fields({ text: 'id topic cursor', object: 'tx' }))).toEqual([])
      expect(recordProblems(items(), pushes.LIQUIDITY)).toEqual([])
      expect(items().filter(({ type }) => !LIQUIDITY_TYPES.includes(String(type)))).toEqual([])
      expect(items().filter(({ time, tx_time }) => time !== tx_time)).toEqual([])
    })
  })

  test('pushes retract notices to the pair’s tx subscriptions after a reorg', () => {
    const retracts = subscriptions('tx').flatMap(recorded.frames).filter(({ result }) => result?.topic === 'retract') // biome-ignore format: one step
    expect(retracts.length).toBeGreaterThan(0)
    expect(
      recordProblems(
        retracts.map(({ result }) => result ?? {}),
        pushes.RETRACT,
      ),
    ).toEqual([])
  })
})
