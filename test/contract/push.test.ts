/** The push interface as the documents' own tables have it, topic by topic and field by field, against the real process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDocuments } from '../rig/contract/documents.js'
import type { Fields } from '../rig/contract/fields.js'
import { type Heard, hearThrough, type Result, type Subscription, wantedOf } from '../rig/contract/heard.js'
import { contractMarket } from '../rig/contract/market.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { DECIMAL, firstOf, namedProblem, typedProblem } from '../rig/contract/shapes.js'
import { PACED_TAPE } from '../rig/contract/tape.js'
import { speedFor } from '../rig/up/recording.js'
import { type Client, connect } from '../serve/push-client.js'

const LISTEN_AFTER = 18

const documents = readDocuments()

describe.skipIf(documents === undefined)('pushes as the interface has them', () => {
  if (documents === undefined) return
  const { spec, facts } = documents
  const { Swap, Kline, PriceEntry, NewMainPair } = spec.records
  const market = contractMarket(PACED_TAPE)
  const names = (fields: Fields): string[] => fields.map(({ name }) => name)
  const pairOnly = names(Swap.filter(({ required }) => !required))
  let served: Served
  let heard: Heard
  let listener: Client

  beforeAll(async () => {
    served = await serveMarket({ market, speed: speedFor(market.lines, 15) })
    await served.up.until('began', async () => {
      const status = await served.up.status()
      return market.chains.every((chain) => (status.get(chain)?.seq ?? 0) >= LISTEN_AFTER)
    })
    listener = await connect(served.ws, { 'x-api-key': KEY })
    heard = hearThrough(listener)
    for (const chain of market.chains) {
      for (const params of wantedOf(market, chain, spec.intervals)) await heard.subscribe(params)
    }
    await served.played()
    await listener.settle()
  })
  afterAll(async () => {
    listener?.close()
    await served?.stop()
  })

  const subscriptions = (...topics: string[]): Subscription[] =>
    heard.subscriptions.filter(({ topic }) => topics.includes(topic))
  const told = (topic: string): Result[] => subscriptions(topic).flatMap((one) => heard.results(one))
  const isSwitch = (result: Result): boolean => 'data' in result
  const swaps = (topic: string): Result[] => told(topic).map(({ tx }) => tx as Result)
  const klines = (): Result[] => ['kline', 'multi_kline'].flatMap(told).filter((result) => !isSwitch(result))
  const entries = (): Result[] => told('price').flatMap(({ prices }) => prices as Result[])
  const switches = (): Result[] => told('kline').filter(isSwitch)
  const fieldSets = (records: readonly object[]): string[] => [
    ...new Set(records.map((record) => Object.keys(record).sort().join(' '))),
  ]
  const setOf = (fields: readonly string[]): string => [...fields].sort().join(' ')

  describe.each(spec.topics)('$topic', ({ topic }) => {
    test('each subscribe is acknowledged with its id and a cursor for each chain', () => {
      const asked = subscriptions(topic)
      expect(asked.length).toBeGreaterThan(0)
      for (const { id, ack } of asked) {
        const cursor = [expect.stringMatching(/^\d+:\w+:\d+:\d+$/)]
        expect(ack).toEqual({ jsonrpc: '2.0', id, result: { status: 'ok', cursor } })
      }
    })

    test('it pushes on every chain', () => {
      const chains = subscriptions(topic)
        .filter((one) => heard.results(one).length > 0)
        .map(({ ack }) => String(ack.result?.cursor).split(':')[1])
      expect([...new Set(chains)].sort()).toEqual([...market.chains].sort())
    })

    test.each(spec.envelope)('the envelope’s $name is $type', (field) => {
      const frames = subscriptions(topic).flatMap(heard.frames)
      const pushes = frames.filter(({ result }) => result !== undefined && !isSwitch(result))
      expect(firstOf(pushes.map((frame) => typedProblem(frame, field)))).toEqual([])
      if (field.values.length > 0) {
        expect(fieldSets(pushes.map((frame) => ({ [Reflect.get(frame, field.name)]: 0 })))).toEqual(field.values)
      }
    })

    test('the envelope has nothing else; sent_time is in milliseconds', () => {
      const frames = subscriptions(topic).flatMap(heard.frames)
      const pushes = frames.filter(({ result }) => result !== undefined && !isSwitch(result))
      expect(fieldSets(pushes)).toEqual([setOf(names(spec.envelope))])
      expect(pushes.filter(({ sent_time }) => Math.abs((sent_time ?? 0) - Date.now()) > 600_000)).toEqual([])
    })

    test('cursors ascend, each above the one before, but for closing candles, which share number 0', () => {
      for (const one of subscriptions(topic)) {
        const ahead = new Map<string, number[]>()
        for (const { result } of heard.frames(one)) {
          const [, chain = '', seq, n] = String(result?.cursor).split(':')
          const [lastSeq = 0, lastN = -1] = ahead.get(chain) ?? []
          const isAfter = Number(seq) > lastSeq || (Number(seq) === lastSeq && Number(n) > lastN)
          if (!isAfter) expect([result?.cursor, Number(n)]).toEqual([`1:${chain}:${lastSeq}:0`, 0])
          ahead.set(chain, [Number(seq), Number(n)])
        }
      }
    })
  })

  describe.each(['tx', 'multi_tx'])('swaps on %s', (topic) => {
    const isByPair = topic === 'tx'
    const fields = Swap.filter(({ name }) => isByPair || !pairOnly.includes(name))

    test.each(fields)('$name is $type', (field) => {
      expect(firstOf(swaps(topic).map((tx) => typedProblem(tx, { ...field, required: true })))).toEqual([])
    })

    test(`the fields are the interface’s ${isByPair ? '' : `without ${pairOnly.join(' and ')} `}and the known extras`, () => {
      expect(fieldSets(swaps(topic))).toEqual([setOf([...names(fields), ...facts.txExtras])])
      expect(fieldSets(told(topic))).toEqual([setOf(['id', 'topic', 'tx', 'cursor'])])
    })

    test('topic, id, amounts and direction fit together', () => {
      const problems = told(topic).flatMap(({ topic: said, id, tx }) => {
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

  test('a profile is "" or an object of the eleven fields, encoded', () => {
    const told = swaps('tx').map(({ profile }) => String(profile))
    const profiles = told.filter((profile) => profile !== '').map((profile) => JSON.parse(profile) as Result)
    expect(profiles.length).toBeGreaterThan(5)
    expect(fieldSets(profiles)).toEqual([setOf(names(spec.profile))])
    expect(firstOf(profiles.flatMap((one) => spec.profile.map((field) => typedProblem(one, field))))).toEqual([])
  })

  test('tx_seq counts a pair’s trades one by one between reorgs', () => {
    for (const one of subscriptions('tx')) {
      const seqs = heard
        .frames(one)
        .map(({ result }) => (result?.topic === 'tx' ? (result.tx as Result).tx_seq : 'reorg'))
      const jumps = seqs.filter(
        (seq, at) => at > 0 && seq !== 'reorg' && seqs[at - 1] !== 'reorg' && Number(seq) !== Number(seqs[at - 1]) + 1,
      )
      expect(jumps).toEqual([])
    }
  })

  describe('kline', () => {
    test.each(Kline)('$name is $type', (field) => {
      expect(firstOf(klines().map((result) => typedProblem(result, field)))).toEqual([])
    })

    describe.each(Kline.filter(({ fields }) => fields !== undefined))('$name', ({ name, fields = [] }) => {
      const side = name.split('.')[1] ?? ''
      const candles = () => klines().map(({ kline }) => (kline as Record<string, Result>)[side] ?? {})
      test.each(fields)('$name is $type', (field) => {
        expect(firstOf(candles().map((candle) => typedProblem(candle, field)))).toEqual([])
      })
      test('has no field more', () => {
        expect(fieldSets(candles())).toEqual([setOf(names(fields))])
      })
    })

    test('beside the interface’s fields only the cursor and our marks', () => {
      const marks = ['cursor', 'final', 'corrected', 'removed', 'pump_pair_id']
      const known = [...names(Kline).map((name) => name.split('.')[0] ?? ''), ...marks]
      expect(
        [...new Set(klines().flatMap((result) => Object.keys(result)))].filter((name) => !known.includes(name)),
      ).toEqual([])
    })

    test.each(spec.intervals)('interval of %s: itself for seconds, else bare minutes', (interval) => {
      const asked = subscriptions('kline').filter(({ params }) => params[2] === interval)
      const said = asked.flatMap((one) => heard.results(one).filter((result) => !isSwitch(result)))
      expect([...new Set(said.map((result) => result.interval))]).toEqual([
        interval === 's1' ? 's1' : interval.replace('k', ''),
      ])
    })

    test('multi_kline names its pairs and intervals', () => {
      for (const one of subscriptions('multi_kline')) {
        const items = one.params.slice(1) as string[][]
        const asked = items.map(([pair, interval, chain]) => `${pair}-${chain} ${interval?.replace('k', '')}`)
        const said = heard.results(one).filter((result) => !isSwitch(result))
        expect([...new Set(said.map(({ id, interval }) => `${id} ${interval}`))].sort()).toEqual(asked.sort())
      }
    })
  })

  describe('main-pair switch', () => {
    test('comes without topic and sent_time, with status ok', () => {
      const frames = subscriptions('kline').flatMap(heard.frames).filter(({ result }) => isSwitch(result ?? {})) // biome-ignore format: one step
      expect(frames.length).toBeGreaterThan(0)
      expect(fieldSets(frames)).toEqual([setOf(['id', 'jsonrpc', 'result'])])
      expect(fieldSets(switches())).toEqual([setOf(['data', 'status', 'cursor'])])
      expect([...new Set(switches().map(({ status }) => status))]).toEqual(['ok'])
    })

    test.each(spec.switchData)('data.$name is $type', (field) => {
      const data = switches().map((result) => result.data)
      expect(firstOf(data.map((one) => typedProblem(one, field)))).toEqual([])
      if (field.values.length > 0) {
        expect([...new Set(data.map((one) => Reflect.get(one as object, field.name)))]).toEqual(field.values)
      }
    })

    test.each(NewMainPair)('data.new_main_pair_data.$name is $type', (field) => {
      const pairs = switches().map(({ data }) => (data as Result).new_main_pair_data)
      expect(firstOf(pairs.map((one) => typedProblem(one, field)))).toEqual([])
    })

    test('has no field more; id is the old pair-id; the new pair’s data is the new pair’s', () => {
      const data = switches().map((result) => result.data as Result)
      expect(fieldSets(data)).toEqual([setOf(names(spec.switchData))])
      const pairs = data.map((one) => one.new_main_pair_data as Result)
      expect(fieldSets(pairs)).toEqual([setOf(names(NewMainPair))])
      expect(data.filter(({ id, old_main_pair, chain }) => id !== `${old_main_pair}-${chain}`)).toEqual([])
      expect(data.filter(({ new_main_pair }, at) => pairs[at]?.pair !== new_main_pair)).toEqual([])
    })

    test('reaches every kline subscription of the old and the new pair', () => {
      const byCursor = new Map(switches().map((result) => [result.cursor, result.data as Result]))
      for (const [cursor, { old_main_pair, new_main_pair }] of byCursor) {
        const concerned = subscriptions('kline').filter(({ params }) =>
          [old_main_pair, new_main_pair].includes(params[1]),
        )
        const reached = concerned.filter((one) => heard.results(one).some((result) => result.cursor === cursor))
        expect(reached.map(({ params }) => params)).toEqual(concerned.map(({ params }) => params))
      }
    })
  })

  describe('price', () => {
    test.each(PriceEntry)('$name is $type', (field) => {
      expect(firstOf(entries().map((entry) => typedProblem(entry, field)))).toEqual([])
    })

    test('one entry a push, with the interface’s fields and the known extras', () => {
      expect(told('price').filter(({ prices }) => (prices as unknown[]).length !== 1)).toEqual([])
      expect(fieldSets(told('price'))).toEqual([setOf(['prices', 'topic', 'cursor'])])
      expect(fieldSets(entries())).toEqual([setOf([...names(PriceEntry), ...facts.priceEntryExtras, 'pair_id'])])
    })

    test('direction is where the price went, and ids name the entry’s own pair and token', () => {
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
    test.each(facts.liquidity.item)('%s', (name) => {
      expect(firstOf(items().map((item) => namedProblem(item, name)))).toEqual([])
    })

    test('the liquidity item and its time; the type is one of the interface’s words', () => {
      expect(fieldSets(told('liq'))).toEqual([setOf(['id', 'topic', 'tx', 'cursor'])])
      expect(fieldSets(items())).toEqual([setOf([...facts.liquidity.item, 'time', 'id', 'pair_address'])])
      expect(items().filter(({ type }) => !facts.liquidity.types.includes(String(type)))).toEqual([])
      expect(items().filter(({ time, tx_time }) => time !== tx_time)).toEqual([])
    })
  })

  test('what a reorg took back is told on the pair’s tx subscriptions in our own form', () => {
    const retracts = subscriptions('tx').flatMap(heard.frames).filter(({ result }) => result?.topic === 'retract') // biome-ignore format: one step
    expect(retracts.length).toBeGreaterThan(0)
    expect(fieldSets(retracts.map(({ result }) => result ?? {}))).toEqual([
      setOf(['topic', 'id', 'chain', 'to_block', 'ids', 'cursor']),
    ])
  })
})
