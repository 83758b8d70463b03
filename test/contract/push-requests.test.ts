/** Requests to the push interface by its rules, and that what was pushed is what history then tells. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Heard, hearThrough, type Subscription } from '../rig/contract/heard.js'
import { contractMarket } from '../rig/contract/market.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { dataOf, type Told } from '../rig/contract/sweep.js'
import { LIVE_TAPE } from '../rig/contract/tape.js'
import { speedFor } from '../rig/up/recording.js'
import { type Client, connect } from '../serve/push-client.js'
import { namesOf } from './interface/fields.js'
import { MAX_TXS } from './interface/operations.js'
import { INTERVALS, RPC_ERRORS, TOPICS, type Topic } from './interface/pushes.js'
import { REST_RECORDS } from './interface/rest-records.js'

const LISTEN_AFTER = 18
const PAIRS_HEARD = 14

describe('requests to the push interface', () => {
  const market = contractMarket(LIVE_TAPE)
  const [chain = ''] = market.chains
  const busiest = market.pairs(chain)[0]?.pair ?? ''
  const token = market.token(chain, 'MEME')
  let served: Served
  let heard: Heard
  let listener: Client
  let client: Client

  beforeAll(async () => {
    served = await serveMarket({ market, speed: speedFor(market.lines, 8) })
    await served.up.until('began', async () => {
      const status = await served.up.status()
      return market.chains.every((one) => (status.get(one)?.seq ?? 0) >= LISTEN_AFTER)
    })
    listener = await connect(served.ws, { 'x-api-key': KEY })
    heard = hearThrough(listener)
    const pairs = market.chains.flatMap((where) => market.pairs(where).slice(0, PAIRS_HEARD))
    await heard.subscribeAll(['tx', 'liq'].flatMap((topic) => pairs.map((one) => [topic, one.pair, one.chain])))
    client = await connect(served.ws, { 'x-api-key': KEY })
  })
  afterAll(async () => {
    listener?.close()
    client?.close()
    await served?.stop()
  })

  const good: Record<string, string> = { 'pair address': busiest, 'token address': token, chain, interval: 'k1' }
  const valuesOf = (names: readonly string[]): unknown[] => names.map((name) => good[name])
  const argumentsOf = ({ form, names }: Topic): unknown[] =>
    form === 'values'
      ? valuesOf(names)
      : form === 'arrays'
        ? [valuesOf(names)]
        : [[`${token}-${chain}`, `${busiest}-${chain}`]]

  async function refused(params: unknown[], due: number = RPC_ERRORS.badParams): Promise<void> {
    const { error, result } = await client.call('subscribe', params)
    expect({ params, code: error?.code, result }).toEqual({ params, code: due, result: undefined })
    expect(error?.message).toMatch(/\S/)
  }

  // First, while much is still to come.
  test('unsubscribe with the same params stops those pushes; with [] all', async () => {
    const countTrades = () =>
      listener.frames.filter(({ result }) => result?.topic === 'tx' && result.id === busiest).length
    const [one, all] = [await connect(served.ws, { 'x-api-key': KEY }), await connect(served.ws, { 'x-api-key': KEY })]
    for (const own of [one, all]) {
      await own.call('subscribe', ['tx', busiest, chain], 71)
      await own.call('subscribe', ['price', [`${busiest}-${chain}`]], 72)
    }
    expect((await one.call('unsubscribe', ['tx', busiest, chain])).result).toMatchObject({ status: 'ok', removed: 1 })
    expect((await all.call('unsubscribe', [])).result).toMatchObject({ status: 'ok', removed: 2 })
    one.frames.length = 0
    all.frames.length = 0
    const tradesBefore = countTrades()
    await served.played()
    for (const each of [listener, one, all]) await each.settle()
    // Whoever still listened to the pair got its trades, and each may change its price.
    expect(countTrades()).toBeGreaterThan(tradesBefore + 1)
    expect([...new Set(one.frames.map(({ id }) => id))]).toEqual([72])
    expect(all.frames).toEqual([])
    one.close()
    all.close()
  })

  describe.each(TOPICS)('$topic', (rules) => {
    const { topic, form, names } = rules
    test('is taken as the interface writes it, again too, and ends by the same params', async () => {
      const whole = [topic, ...argumentsOf(rules)]
      const cursor = [expect.stringMatching(/^\d+:\w+:\d+:\d+$/)]
      for (const id of [41, 42]) {
        const ack = await client.call('subscribe', whole, id)
        expect(ack).toEqual({ jsonrpc: '2.0', id, result: { status: 'ok', cursor } })
      }
      const ended = await client.call('unsubscribe', whole, 43)
      expect(ended).toMatchObject({ jsonrpc: '2.0', id: 43, result: { status: 'ok', removed: 1 } })
      expect((await client.call('unsubscribe', whole, 44)).result).toMatchObject({ status: 'ok', removed: 0 })
    })

    test('without its params, with one more, or with a word in their place it is refused', async () => {
      await refused([topic])
      await refused([topic, ...argumentsOf(rules), 'more'])
      await refused([topic, topic])
    })

    if (form !== 'ids') {
      const asked = (values: unknown[]): unknown[] => [topic, ...(form === 'arrays' ? [values] : values)]
      test.each(names)('%s: left out or of another type it is refused', async (name) => {
        await refused(asked(valuesOf(names.filter((one) => one !== name))))
        for (const wrong of [7, null, true, [], '']) {
          await refused(asked(names.map((one) => (one === name ? wrong : good[one]))))
        }
      })
      if (names.includes('interval')) {
        test.each(INTERVALS)('interval %s is taken', async (interval) => {
          const { result } = await client.call(
            'subscribe',
            asked(names.map((one) => (one === 'interval' ? interval : good[one]))),
          )
          expect(result?.status).toBe('ok')
        })
        test.each(['15', 'k', 'k3', 'K1', 's5', 'k4320', 'k43200', 's1 '])(
          'interval %j is refused',
          async (interval) => {
            await refused(asked(names.map((one) => (one === 'interval' ? interval : good[one]))))
          },
        )
      }
      test('a chain that is not indexed is refused', async () => {
        await refused(asked(names.map((one) => (one === 'chain' ? 'nochain' : good[one]))))
      })
    } else {
      test.each([[[]], ['id'], [{}], [null], [['']], [['x']], [[7]], [[`x-nochain`]], [[[`${token}-${chain}`]]]])(
        'ids %j are refused',
        async (ids) => {
          await refused([topic, ids])
        },
      )
      test('two hundred ids, mixed and of several chains, are taken', async () => {
        const ids = market.chains.flatMap((one) => [
          ...market.tokens(one).map((address) => `${address}-${one}`),
          ...market.pairs(one).map(({ pair }) => `${pair}-${one}`),
        ])
        expect(ids.length).toBeGreaterThan(100)
        const { result } = await client.call('subscribe', [topic, ids.slice(0, 200)])
        expect(result?.cursor).toHaveLength(market.chains.length)
      })
    }
  })

  test('unknown methods and broken frames have the codes of JSON-RPC', async () => {
    expect(await client.call('ping', undefined, 1)).toEqual({ jsonrpc: '2.0', result: 'pong', id: 1 })
    expect((await client.call('publish', [], 2)).error?.code).toBe(RPC_ERRORS.unknownMethod)
    client.send('{"jsonrpc":')
    expect((await client.take(({ error }) => error !== undefined)).error?.code).toBe(RPC_ERRORS.parse)
    client.send('{"id":5}')
    expect(await client.take(({ error }) => error !== undefined)).toMatchObject({
      ...{ id: 5, error: { code: RPC_ERRORS.invalidRequest } },
    })
    await refused(
      ['price', Array.from({ length: 5000 }, (_, at) => `0x${String(at).padStart(40, '0')}-${chain}`)],
      RPC_ERRORS.limitExceeded,
    )
  })

  test.each([
    ['no key', {}, 'Missing API Key'],
    ['an unknown key', { 'x-api-key': 'dx_nobody' }, 'Unauthorized'],
  ])('%s: one message, then close 1008', async (_, headers, message) => {
    const stranger = await connect(served.ws, headers as Record<string, string>)
    expect((await stranger.closed).code).toBe(1008)
    expect(stranger.frames).toEqual([{ error: { code: -1, message } }])
  })

  test('an expired key too', async () => {
    const late = await connect(served.ws, { 'x-api-key': served.expiredKey })
    expect((await late.closed).code).toBe(1008)
    expect(late.frames).toEqual([{ error: { code: -1, message: 'Unauthorized' } }])
  })

  describe('what was pushed is what history tells', () => {
    beforeAll(async () => {
      await served.played()
      await listener.settle()
    })

    /** Events that no reorg took back, in order. */
    function kept(subscription: Subscription): Told[] {
      const events = new Map<unknown, Told>()
      for (const { result = {} } of heard.frames(subscription)) {
        const tx = result.tx as Told
        if (result.topic === 'retract') for (const id of result.ids as string[]) events.delete(id)
        else events.set(tx.id, tx)
      }
      return [...events.values()]
    }

    /** The push's word for a field of the history's item. */
    const PUSHED: Record<string, string> = {
      tx_hash: 'transaction',
      tx_time: 'time',
      sender_address: 'sender',
      to_address: 'to',
    }
    const pushedName = (name: string): string => PUSHED[name] ?? name.replace(/^(from|to)_token_/, '$1_')

    test.each([
      ['tx', 'swap', namesOf(REST_RECORDS.swap), 150],
      ['liq', 'liq', namesOf(REST_RECORDS.liquidity), 10],
    ] as const)('%s and /v2/txs/%s', async (topic, path, names, atLeast) => {
      let compared = 0
      for (const one of heard.subscriptions.filter((subscription) => subscription.topic === topic)) {
        const events = kept(one).slice(-MAX_TXS)
        if (events.length === 0) continue
        const [, pair, where] = one.params as string[]
        const query = { sort: 'desc', limit: events.length }
        const { txs } = (await dataOf(served, { path: `/v2/txs/${path}/${pair}-${where}`, query })) as { txs: Told[] }
        const due = events.map((event) =>
          Object.fromEntries(names.map((name) => [name, event[topic === 'tx' ? pushedName(name) : name] ?? ''])),
        )
        // What was unknown when it was pushed, a symbol or decimals, may have been learned since.
        const shown = txs
          .toReversed()
          .map((item, at) => Object.fromEntries(names.map((name) => [name, due[at]?.[name] === '' ? '' : item[name]])))
        expect(shown).toEqual(due)
        compared += events.length
      }
      expect(compared).toBeGreaterThan(atLeast)
    })
  })
})
