/** Requests to the push interface; pushed events match the history. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RecordedPushes, recordPushes, type Subscription } from '../rig/contract/heard.js'
import { contractMarket } from '../rig/contract/market.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { dataOf, type JsonObject } from '../rig/contract/sweep.js'
import { LIVE_TAPE } from '../rig/contract/tape.js'
import { speedFor } from '../rig/up/recording.js'
import { type Client, connect } from '../serve/push-client.js'
import { namesOf } from './interface/fields.js'
import { MAX_TXS } from './interface/operations.js'
import { INTERVALS, RPC_ERRORS, TOPICS, type Topic } from './interface/pushes.js'
import { REST_RECORDS } from './interface/rest-records.js'

const LISTEN_AFTER = 18
const PAIRS_SUBSCRIBED = 14

describe('requests to the push interface', () => {
  const market = contractMarket(LIVE_TAPE)
  const [chain = ''] = market.chains
  const busiest = market.pairs(chain)[0]?.pair ?? ''
  const token = market.token(chain, 'MEME')
  let served: Served
  let recorded: RecordedPushes
  let listener: Client
  let client: Client

  beforeAll(async () => {
    served = await serveMarket({ market, speed: speedFor(market.lines, 8) })
    await served.up.until('began', async () => {
      const status = await served.up.status()
      return market.chains.every((one) => (status.get(one)?.seq ?? 0) >= LISTEN_AFTER)
    })
    listener = await connect(served.ws, { 'x-api-key': KEY })
    recorded = recordPushes(listener)
    const pairs = market.chains.flatMap((where) => market.pairs(where).slice(0, PAIRS_SUBSCRIBED))
    await recorded.subscribeAll(['tx', 'liq'].flatMap((topic) => pairs.map((one) => [topic, one.pair, one.chain])))
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

  // Runs first, while most of the recording is still to be played.
  test('unsubscribe stops the pushes with the same params, or all with []', async () => {
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
    // The remaining subscription got the pair's trades, and each may change its price.
    expect(countTrades()).toBeGreaterThan(tradesBefore + 1)
    expect([...new Set(one.frames.map(({ id }) => id))]).toEqual([72])
    expect(all.frames).toEqual([])
    one.close()
    all.close()
  })

  describe.each(TOPICS)('$topic', (rules) => {
    const { topic, form, names } = rules
    test('accepts the interface’s params, also repeated, and unsubscribes by the same params', async () => {
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

    test('rejects missing params, an extra one, or a plain word instead', async () => {
      await refused([topic])
      await refused([topic, ...argumentsOf(rules), 'more'])
      await refused([topic, topic])
    })

    if (form !== 'ids') {
      const asked = (values: unknown[]): unknown[] => [topic, ...(form === 'arrays' ? [values] : values)]
      test.each(names)('rejects a missing %s or one of another type', async (name) => {
        await refused(asked(valuesOf(names.filter((one) => one !== name))))
        for (const wrong of [7, null, true, [], '']) {
          await refused(asked(names.map((one) => (one === name ? wrong : good[one]))))
        }
      })
      if (names.includes('interval')) {
        test.each(INTERVALS)('accepts interval %s', async (interval) => {
          const { result } = await client.call(
            'subscribe',
            asked(names.map((one) => (one === 'interval' ? interval : good[one]))),
          )
          expect(result?.status).toBe('ok')
        })
        test.each(['15', 'k', 'k3', 'K1', 's5', 'k4320', 'k43200', 's1 '])('rejects interval %j', async (interval) => {
          await refused(asked(names.map((one) => (one === 'interval' ? interval : good[one]))))
        })
      }
      test('rejects a chain that is not indexed', async () => {
        await refused(asked(names.map((one) => (one === 'chain' ? 'nochain' : good[one]))))
      })
    } else {
      test.each([[[]], ['id'], [{}], [null], [['']], [['x']], [[7]], [[`x-nochain`]], [[[`${token}-${chain}`]]]])(
        'rejects ids %j',
        async (ids) => {
          await refused([topic, ids])
        },
      )
      test('accepts 200 token and pair ids of several chains', async () => {
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

  test('answers unknown methods and malformed frames with JSON-RPC error codes', async () => {
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
  ])('%s: sends one error, then closes with 1008', async (_, headers, message) => {
    const rejected = await connect(served.ws, headers as Record<string, string>)
    expect((await rejected.closed).code).toBe(1008)
    expect(rejected.frames).toEqual([{ error: { code: -1, message } }])
  })

  test('an expired key: sends one error, then closes with 1008', async () => {
    const late = await connect(served.ws, { 'x-api-key': served.expiredKey })
    expect((await late.closed).code).toBe(1008)
    expect(late.frames).toEqual([{ error: { code: -1, message: 'Unauthorized' } }])
  })

  describe('pushed events match the history', () => {
    beforeAll(async () => {
      await served.played()
      await listener.settle()
    })

    /** Events that were not retracted, in order. */
    function kept(subscription: Subscription): JsonObject[] {
      const events = new Map<unknown, JsonObject>()
      for (const { result = {} } of recorded.frames(subscription)) {
        const tx = result.tx as JsonObject
        if (result.topic === 'retract') for (const id of result.ids as string[]) events.delete(id)
        else events.set(tx.id, tx)
      }
      return [...events.values()]
    }

    /** The push's name of a history field, where it differs. */
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
      for (const one of recorded.subscriptions.filter((subscription) => subscription.topic === topic)) {
        const events = kept(one).slice(-MAX_TXS)
        if (events.length === 0) continue
        const [, pair, where] = one.params as string[]
        const query = { sort: 'desc', limit: events.length }
        const { txs } = (await dataOf(served, { path: `/v2/txs/${path}/${pair}-${where}`, query })) as {
          txs: JsonObject[]
        }
        const due = events.map((event) =>
          Object.fromEntries(names.map((name) => [name, event[topic === 'tx' ? pushedName(name) : name] ?? ''])),
        )
        // A symbol or decimals unknown at push time may be known by now.
        const actual = txs
          .toReversed()
          .map((item, at) => Object.fromEntries(names.map((name) => [name, due[at]?.[name] === '' ? '' : item[name]])))
        expect(actual).toEqual(due)
        compared += events.length
      }
      expect(compared).toBeGreaterThan(atLeast)
    })
  })
})
