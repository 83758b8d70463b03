import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventLog } from '../../services/core/log/port.js'
import { findOffset } from '../../services/serve/memory/read-updates.js'
import { binaryRows } from '../rig/binary-rows.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { KEY, type Rig, row, startRig } from './rig.js'
import {
  CHAIN,
  firstUpdate,
  PAIR,
  pairUpdate,
  storedColumns,
  storedText,
  T0,
  TOKEN,
  tokenInfo,
  tokenUpdate,
  update,
  weth,
} from './updates.js'

let rig: Rig

beforeAll(async () => {
  rig = await startRig({}, 4000)
}, 60_000)
afterAll(() => rig.stop())

type Chain = {
  finalized: number
  seq: number
  gaps: number
  last_gap: object | null
  stopped: string | null
  epoch: number
}
const chainStatus = async () => ((await (await rig.get('/status')).json()) as { chains: Chain[] }).chains[0]
const pairOf = async () =>
  ((await (await rig.get(`/v2/pairs/${PAIR}-eth`)).json()) as { data: Record<string, unknown> | null }).data

const stateOf = (priceUsd: number) => ({
  pair: pairUpdate({ price_usd: priceUsd, ath_usd: Number.NaN }),
  tokens: [tokenUpdate({ info: tokenInfo({ decimals: null }) }), weth()],
})

/** Writes the sink's state of the first update. */
async function storeState(epoch: number, seq: number, priceUsd: number): Promise<void> {
  const { pair, tokens } = stateOf(priceUsd)
  const shared = { chain: CHAIN, version: epoch * 2 ** 40 + seq }
  await rig.store.insertRows('pair_rows', binaryRows('pair_rows', [{ ...storedColumns(pair), ...shared }]))
  const rows = tokens.map((token) => ({ ...storedColumns(token), ...shared }))
  await rig.store.insertRows('token_rows', binaryRows('token_rows', rows))
  await storeProgress(epoch, seq)
}

/** The same as earlier versions wrote it; unknown numbers are null in its JSON. */
async function storeStateAsText(epoch: number, seq: number, priceUsd: number): Promise<void> {
  const { pair, tokens } = stateOf(priceUsd)
  const { candles: _c, trades: _t, liquidity: _l, ...state } = pair
  const version = epoch * 2 ** 40 + seq
  await insertText('pair', pair.pair, storedText(state), version)
  for (const token of tokens) await insertText('token', token.token, storedText(token), version)
  await storeProgress(epoch, seq)
}

const insertText = (kind: 'pair' | 'token', id: string, text: string, version: number) =>
  rig.store.command(
    `INSERT INTO ${kind}_rows (chain, ${kind}, state, version)
     SELECT {chain:String}, {id:String}, {text:String}, {version:UInt64}`,
    { chain: CHAIN, id, text, version },
  )

async function storeProgress(epoch: number, seq: number): Promise<void> {
  const at = { version: epoch * 2 ** 40 + seq, epoch, seq }
  const progress = { ...at, chain: CHAIN, number: 100, hash: '0x', now: T0 + 1, finalized: 90 }
  await rig.store.insert('progress_rows', row('progress_rows', progress))
}

describe('startup', () => {
  it('is not ready without a chain, and gives the reason, until the first update is served', async () => {
    await rig.start()
    const ready = async () => {
      const answer = await rig.get('/ready', {})
      return [answer.status, await answer.json()]
    }
    expect(await ready()).toEqual([503, { status: 'no_chain', reason: 'No chain has any updates yet.' }])
    await rig.feed(firstUpdate())
    expect(await ready()).toEqual([200, { status: 'ready' }])
  })

  it('reads updates from the beginning with an empty store, joining split ones', async () => {
    const crowd = Array.from({ length: 40 }, (_, n) => pairUpdate({ pair: `0x${n.toString(16).padStart(40, '0')}` }))
    await rig.append(update({ seq: 2, pairs: crowd }))
    await rig.restart()
    await expect.poll(async () => (await rig.get('/ready')).status).toBe(200)
    expect(await chainStatus()).toMatchObject({ seq: 2, gaps: 0 })
    expect(await (await rig.get('/metrics')).text()).toContain('dextape_serve_pairs{chain="eth"} 42')
  })

  it('is not ready until it caught up with the log; chains without updates do not delay it', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const log: EventLog = {
      ...rig.log,
      async *follow(...args) {
        await held
        yield* rig.log.follow(...args)
      },
    }
    const [httpPort, wsPort] = [await steadyPort(), await steadyPort()]
    const pipeStatus = () => [{ chain: 'base', source: 'evm:base', sourceAgeS: null, indexedFrom: null }]
    const late = rig.open({ log, pipeStatus, config: { ...rig.config, httpPort, wsPort } })
    const started = late.start()
    const ready = async () => {
      const answer = await fetch(`http://127.0.0.1:${httpPort}/ready`)
      return [answer.status, await answer.json()]
    }
    const reason = 'Catching up with the log: eth.'
    await expect.poll(ready).toEqual([503, { status: 'catching_up', reason, behind: ['eth'] }])
    // A socket opened now could miss updates that are already on the log.
    await expect(fetch(`http://127.0.0.1:${wsPort}/`)).rejects.toThrow()
    release()
    expect(await started).toEqual({ httpPort, wsPort })
    expect((await ready())[0]).toBe(200)
    expect((await fetch(`http://127.0.0.1:${wsPort}/`)).status).toBeGreaterThan(0)
    await late.stop()
  })

  it('reports a missing seq in /status and counts it', async () => {
    await rig.feed(update({ seq: 5, number: 105 }))
    expect(await chainStatus()).toMatchObject({ gaps: 1, last_gap: { epoch: 1, after: 2, before: 5 } })
    expect(await (await rig.get('/metrics')).text()).toContain('dextape_serve_updates_missing_total{chain="eth"} 2')
  })

  it.each([
    ['as columns', storeState],
    ['as text, by an earlier version,', storeStateAsText],
  ])('loads the state flushed %s on a restart and applies only later updates', async (_, store) => {
    await store(1, 5, 7)
    await rig.append(update({ seq: 5, pairs: [pairUpdate({ price_usd: 1 })] }), update({ seq: 6, number: 106 }))
    await rig.restart()
    await expect.poll(async () => (await chainStatus())?.seq).toBe(6)
    expect(await chainStatus()).toMatchObject({ gaps: 0 })
    expect(await pairOf()).toMatchObject({
      token0_price_usd: '7',
      price_ath_u: null,
      reserve0: null,
      token1_symbol: 'WETH',
    })
  })

  it('knows the last final block before the next block comes', async () => {
    await storeState(1, 6, 7)
    await rig.restart()
    expect(await chainStatus()).toMatchObject({ seq: 6, finalized: 90 })
  })

  it('finds the first update after a position', async () => {
    const { createCodec } = await import('../../services/core/log/codec.js')
    const seen: number[] = []
    const codec = {
      learn: async () => {},
      decodeLazily: (bytes: Uint8Array) => {
        seen.push(bytes.length)
        return {
          kind: 'update' as const,
          update: update({ seq: new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) }),
        }
      },
    } satisfies Partial<ReturnType<typeof createCodec>>
    const topic = 'dex.updates.search'
    // 1 … 500, then a crash, then 400 … 900.
    const seqs = [...Array(500).keys()].map((n) => n + 1).concat([...Array(501).keys()].map((n) => n + 400))
    const value = (seq: number) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(seq)
      return bytes
    }
    await rig.log.append(
      topic,
      seqs.map((seq) => ({ key: '', value: value(seq), timestampMs: 0 })),
    )
    for (const seq of [0, 1, 399, 450, 500, 501, 899, 900]) {
      const offset = await findOffset(rig.log, topic, codec, { epoch: 1, seq }, 0)
      const rest = new Set(seqs.slice(offset))
      const wanted = seqs.filter((one) => one > seq)
      expect([seq, wanted.every((one) => rest.has(one)), (seqs[offset] ?? seq + 1) === seq + 1]).toEqual([
        seq,
        true,
        true,
      ])
    }
    expect(seen.length).toBeLessThan(120)
  })

  it('loads an epoch from the store when the log starts in its middle', async () => {
    await storeState(2, 50, 8)
    await rig.feed(update({ epoch: 2, seq: 51, number: 151, tokens: [tokenUpdate({ price_usd: 9 })] }))
    expect(await chainStatus()).toMatchObject({ epoch: 2, seq: 51, gaps: 0 })
    expect(await pairOf()).toMatchObject({ token0_price_usd: '8' })
    const prices = await rig.post('/v2/tokens/price', { token_ids: [`${TOKEN}-eth`] }, { 'x-api-key': KEY })
    expect(await prices.json()).toMatchObject({ data: { [`${TOKEN}-eth`]: { current_price_usd: '9' } } })
  })

  it('removes a pair on a retract', async () => {
    const retracted = [{ pair: PAIR, ids: ['100-1'], gone: true }]
    await rig.feed(update({ epoch: 2, seq: 52, kind: 'retract', number: 99, retracted, gone_tokens: [TOKEN] }))
    expect(await pairOf()).toBeNull()
    expect(await chainStatus()).toMatchObject({ last_reorg: { at_block: 151, to_block: 99, depth: 52 } })
  })

  it('stops the chain with a reason on a record that is not an update', async () => {
    await rig.log.append('dex.updates.eth', [{ key: '', value: Buffer.from('nonsense'), timestampMs: 0 }])
    await expect.poll(async () => (await chainStatus())?.stopped).toMatch(/Cannot decode a log record/)
  })
})
