/** Pushes of buys by smart wallets: who is smart comes from the store, and what is pushed is what is listed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Trade } from '../../../services/core/domain/records.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { createSmartBuyFeed } from '../../../services/serve/push/smart-buys.js'
import type { UpdateSnapshot } from '../../../services/serve/push/update-snapshot.js'
import { type Client, connect } from '../push-client.js'
import { type Rig, row, startRig } from '../rig.js'
import {
  CHAIN,
  DAY_S,
  firstUpdate,
  OTHER_PAIR,
  PAIR,
  pairInfo,
  pairUpdate,
  T0,
  TOKEN,
  trade,
  update,
} from '../updates.js'

const SMART = ['ann', 'ben', 'cy', 'dan']
const EARLIER = ['0xearlier0', '0xearlier1']
const VERSION = 2 ** 40
/** Two hours before the day of the updates. */
const RANKED_S = DAY_S - 7_200

let rig: Rig
let seq = 1
/** After the first update. */
let clockS = 0

/** Each smart wallet bought and sold two tokens for twice as much. */
function pastRows(): string[] {
  return EARLIER.flatMap((pair, place) =>
    SMART.flatMap((wallet, who) =>
      [false, true].map((sell) => {
        const block_number = 10 + who * 2 + (sell ? 1 : 0)
        const place_ = { tx_index: 0, log_index: place, id: `${block_number}-${place}` }
        const amounts = sell ? { amount_in: '100', amount_usd: 200 } : { amount_out: '100', amount_usd: 100 }
        const one = { ...trade({ ...place_, wallet, ...amounts }), sell: sell ? 1 : 0 }
        const where = { chain: CHAIN, pair, time: RANKED_S + block_number, block_number }
        return row('trade_rows', { ...one, ...where, version: VERSION, is_deleted: 0 })
      }),
    ),
  )
}

beforeAll(async () => {
  rig = await startRig()
  await rig.store.insert('trade_rows', pastRows().join(''))
  const pairs = EARLIER.map((pair) => {
    const { token0, token1, target } = pairInfo({ token0: `${pair}-token` })
    return row('pair_rows', {
      chain: CHAIN,
      pair,
      token0,
      token1,
      target,
      state: '{"info":null}',
      version: VERSION,
      is_deleted: 0,
    })
  })
  await rig.store.insert('pair_rows', pairs.join(''))
  const progress = { chain: CHAIN, epoch: 1, seq: 0, number: 99, hash: '0xb99', now: T0, version: VERSION }
  await rig.store.insert('progress_rows', row('progress_rows', progress))
  await rig.append(firstUpdate())
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

/** A block with one swap of each wallet. */
async function swaps(afterS: number, ...given: { wallet: string; pair?: string; sell?: boolean; flags?: number }[]) {
  seq += 1
  const number = 100 + seq
  const tradesIn = (pair: string): Trade[] =>
    given.flatMap(({ pair: of = PAIR, ...one }, n) =>
      of === pair ? [trade({ ...one, id: `${number}-${n}`, tx_index: n, log_index: n, amount_usd: 10 })] : [],
    )
  const pairs = [PAIR, OTHER_PAIR].flatMap((pair) => {
    const trades = tradesIn(pair)
    return trades.length === 0 ? [] : [pairUpdate({ pair, trades })]
  })
  await rig.feed(update({ seq, number, hash: `0xb${number}`, time: T0 + afterS, now: T0 + afterS, pairs }))
}

const signalsOf = (client: Client, id: number) =>
  client.frames.filter((frame) => frame.id === id && frame.result?.topic === 'signal').map(({ result }) => result)

/** As if everything up to here were stored. */
async function storeProgress(): Promise<void> {
  const at = { seq, number: 100 + seq, hash: `0xb${100 + seq}`, now: T0 + clockS, version: VERSION + seq }
  await rig.store.insert('progress_rows', row('progress_rows', { chain: CHAIN, epoch: 1, ...at }))
}

/** Buys of three at once, ever later, until a server that has begun to follow them pushes one. */
async function untilFollowed(client: Client, id: number): Promise<void> {
  for (let attempt = 0; signalsOf(client, id).length === 0; attempt += 1) {
    if (attempt === 100) throw new Error('no smart buys are pushed')
    await storeProgress()
    clockS += 700
    await swaps(clockS, { wallet: 'ann' }, { wallet: 'ben' }, { wallet: 'cy' })
    await client.settle()
    await sleep(50)
  }
  clockS += 700
}

it('pushes the buy with which three smart wallets have bought a token, once, also to who resumes, and again after a restart', async () => {
  const first = await connect(rig.wsUrl)
  await first.call('subscribe', ['signal', CHAIN], 1)
  await untilFollowed(first, 1)
  const before = signalsOf(first, 1).length
  await swaps(clockS + 10, { wallet: 'ann' }, { wallet: 'eve' })
  await swaps(clockS + 20, { wallet: 'ann' }, { wallet: 'cy', sell: true }, { wallet: 'dan', flags: 1 })
  await swaps(clockS + 30, { wallet: 'ben', pair: OTHER_PAIR })
  const started = `1:${CHAIN}:${seq}:1`
  await swaps(clockS + 40, { wallet: 'eve' }, { wallet: 'cy' })
  const made = 100 + seq
  await swaps(clockS + 50, { wallet: 'dan' })
  await first.settle()
  const pushed = signalsOf(first, 1).slice(before)
  expect(pushed).toMatchObject([
    {
      id: `${made}-1-smart_buys`,
      signal: { signal_type: 'smart_buys', token: TOKEN, pair_address: PAIR, wallet_address: 'cy' },
    },
  ])
  first.close()

  const second = await connect(rig.wsUrl)
  await second.call('subscribe', ['signal', CHAIN, { since: started }], 2)
  await second.settle()
  expect(signalsOf(second, 2)).toEqual(pushed)
  second.close()
  const third = await connect(rig.wsUrl)
  await third.call('subscribe', ['signal', CHAIN, { since: pushed[0]?.cursor }], 3)
  await third.settle()
  expect(signalsOf(third, 3)).toEqual([])
  third.close()

  await rig.restart()
  const fourth = await connect(rig.wsUrl)
  await fourth.call('subscribe', ['signal', CHAIN], 4)
  clockS += 50
  await untilFollowed(fourth, 4)
  fourth.close()
})

it('decodes no trades for it while nobody subscribes to signals', async () => {
  const notes: unknown[] = []
  const update = {
    ...{ chain: CHAIN, epoch: 1, seq: 1, number: 1, timeS: T0, nowS: T0 },
    get entries() {
      notes.push('entries')
      return []
    },
  } as unknown as UpdateSnapshot
  const feed = createSmartBuyFeed({
    memory: { chain: () => undefined, onAdopted: () => {} },
    ...{ store: rig.store, moneyOf: () => [], ringSeconds: 60, logger: silentLogger, nowMs: Date.now },
  })
  feed.note(update, false, { get: () => undefined })
  expect(notes).toEqual([])
  feed.stop()
})

it('counts no buy that a reorg removed', async () => {
  const client = await connect(rig.wsUrl)
  await client.call('subscribe', ['signal', CHAIN], 6)
  await untilFollowed(client, 6)
  const before = signalsOf(client, 6).length
  await swaps(clockS, { wallet: 'ann' })
  await swaps(clockS + 10, { wallet: 'ben' })
  const [number, id] = [100 + seq, `${100 + seq}-0`]
  seq += 1
  const retracted = [{ pair: PAIR, ids: [id], gone: false }]
  const to = { number: number - 1, hash: `0xb${number - 1}`, time: T0 + clockS, now: T0 + clockS }
  await rig.feed(update({ seq, kind: 'retract', ...to, retracted, pairs: [pairUpdate()] }))
  await swaps(clockS + 20, { wallet: 'cy' })
  await client.settle()
  expect(signalsOf(client, 6).slice(before)).toEqual([])
  await swaps(clockS + 30, { wallet: 'dan' })
  await client.settle()
  expect(
    signalsOf(client, 6)
      .slice(before)
      .map((result) => result?.id),
  ).toEqual([`${100 + seq}-0-smart_buys`])
  client.close()
})
