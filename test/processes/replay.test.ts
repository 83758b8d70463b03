/** A chain's log folded again beside the live tables, and the switch to the result, with clients listening. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { dropReplayedRows } from '../../services/aggregate/replay/replayed-rows.js'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { countOf, seedOf } from '../rig/counts.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { swapsOf, updateOf } from '../rig/replay/pushed-swaps.js'
import { openReplayedNode, type ReplayedNode } from '../rig/replay/replayed-node.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { type Client, connect, type Frame } from '../serve/push-client.js'

const SEED = seedOf('replaySwitches')
const SWITCHES = countOf('replaySwitches')
/** Of a switch: records, moved tables, the checkpoint, the first update, deletes. */
const STEPS = 26
/** From here on the first update and the deletes come in either order. */
const FIRST_DELETE = 14
const options = { retracts: { probability: 0.15, maxDepth: 5 }, quietDay: 0, quietHour: 0, swapsPerBlock: 2 }

let node: ReplayedNode
beforeAll(async () => {
  node = await openReplayedNode()
})
afterAll(() => node?.stop())

/** The dollar's other tokens are no money any more: most prices change. */
const withoutStables = (money: ChainFacts): ChainFacts => ({ ...money, stables: [], majors: [] })

async function untilFolded(chain: string, records: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const last = (await node.updatesOf(chain)).at(-1)
      if (last?.seq !== records) throw new Error(`${chain} is at seq ${last?.seq} of ${records}`)
    },
    { timeout: 20_000, interval: 30 },
  )
}

/** The update of each swap that was pushed. */
const pushedSwaps = (frames: readonly Frame[]): string[] =>
  frames.flatMap(({ result }) => (result?.topic === 'tx' ? [updateOf(String(result.cursor))] : []))

async function listen(chain: string): Promise<Client> {
  const client = await connect(node.rig.wsUrl)
  await client.call('subscribe', ['tx', '*', chain], 1)
  return client
}

/** Replays a chain with other money while blocks come in; the fold crashes at a step of the switch. */
async function replayed(chain: string, seed: number, crashAt: number) {
  const money = marketMoney(chain)
  const lines = generateRecording({ seed, chain, blocks: 60, options })
  node.addChain(money)
  const half = Math.floor(lines.length / 2)
  await node.append(money, lines.slice(0, half))
  const fold = node.fold(chain, crashAt)
  await node.untilServed(chain, half)
  const client = await listen(chain)
  const other = withoutStables(money)
  const run = node.replay(other)
  for (const line of lines.slice(half, -2)) {
    await node.append(money, [line])
    await sleep(5)
  }
  expect((await run).lines).toEqual([`${chain} continues in epoch 2, as replayed.`])
  await node.append(money, lines.slice(-2))
  await untilFolded(chain, lines.length)
  await fold.stop()
  await node.untilServed(chain, lines.length)
  await client.settle()
  client.close()
  return { lines, half, client, other, crashes: fold.crashes }
}

it(`is switched to at one block in a new epoch, with ${SWITCHES - 1} crashes (seed ${SEED})`, async () => {
  for (let at = 0; at < SWITCHES; at += 1) {
    // Every step in as many switches as there are steps.
    const crashAt = at === 0 ? -1 : (SEED + at * 7) % STEPS
    const chain = `c${at}`
    const { lines, half, client, other, crashes } = await replayed(chain, SEED + at, crashAt)
    const updates = await node.updatesOf(chain)
    const old = updates.filter(({ epoch }) => epoch === 1)
    const [first, ...later] = updates.filter(({ epoch }) => epoch === 2)
    // The new epoch begins with the last block of the old one, and both have every record once.
    // A failed delete is tried again without a restart.
    if (crashAt < 0 || crashAt < FIRST_DELETE) expect({ at, crashes }).toEqual({ at, crashes: crashAt < 0 ? 0 : 1 })
    expect(first?.seq).toBe(old.length)
    expect([...old, ...later].map(({ seq }) => seq)).toEqual(lines.map((_line, index) => index + 1))
    const pushed = [...old, ...later].filter(({ seq }) => seq > half)
    expect(pushedSwaps(client.frames)).toEqual(swapsOf(pushed))
    const gaps = client.frames.filter(({ result }) => result?.topic === 'gap')
    expect(gaps.map(({ result }) => result?.to)).toEqual([`2:${chain}:${old.length}:0`])
    expect(await node.wrongRows(other)).toEqual([])
  }
})

it('is folded up to the live blocks while these go on', async () => {
  const money = marketMoney('approached')
  const { chain } = money
  node.addChain(money)
  const lines = generateRecording({ seed: SEED, chain, blocks: 40, options })
  await node.append(money, lines.slice(0, 20))
  const opened = vi.fn()
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const fold = node.fold(chain, -1, () => {
    opened()
    return held
  })
  await node.untilServed(chain, 20)
  const run = node.replay(withoutStables(money))
  await vi.waitFor(() => expect(opened).toHaveBeenCalled(), { timeout: 20_000, interval: 30 })
  await node.append(money, lines.slice(20, 30))
  await untilFolded(chain, 30)
  goOn()
  expect((await run).lines).toEqual([`${chain} continues in epoch 2, as replayed.`])
  await node.append(money, lines.slice(30))
  await untilFolded(chain, lines.length)
  await fold.stop()
  expect((await node.updatesOf(chain)).map(({ epoch, seq }) => `${epoch}:${seq}`)).toEqual([
    ...lines.slice(0, 30).map((_line, at) => `1:${at + 1}`),
    ...lines.slice(29).map((_line, at) => `2:${at + 30}`),
  ])
  expect(await node.wrongRows(withoutStables(money))).toEqual([])
})

itWhenLong('begins again if its rows were lost while it was stopped', async () => {
  const money = marketMoney('lost')
  const { chain } = money
  node.addChain(money)
  const lines = generateRecording({ seed: SEED, chain, blocks: 40, options })
  await node.append(money, lines)
  const fold = node.fold(chain)
  await node.untilServed(chain, lines.length)
  const other = withoutStables(money)
  const stop = new AbortController()
  const progress = () => ({ report: () => stop.abort(), end: () => {} })
  expect((await node.replay(other, {}, { progress }, stop.signal)).lines).toEqual([
    `The replay of ${chain} is unfinished: run the same command to resume it, or --abandon to delete it.`,
  ])
  await dropReplayedRows(node.store, chain)
  expect((await node.replay(other)).lines).toEqual([`${chain} continues in epoch 2, as replayed.`])
  await fold.stop()
  expect(await node.wrongRows(other)).toEqual([])
})

it('with limits compares these rows with the live ones, and changes nothing', async () => {
  const money = marketMoney('limited')
  node.addChain(money)
  const lines = generateRecording({ seed: SEED, chain: money.chain, blocks: 40, options })
  await node.append(money, lines)
  const fold = node.fold(money.chain)
  await untilFolded(money.chain, lines.length)
  await fold.stop()
  const pairs = (await node.updatesOf(money.chain)).flatMap((update) => update.pairs.map(({ pair }) => pair))
  const limits = { pairs: [pairs[0] ?? ''] }
  const same = await node.replay(money, { limits })
  expect(same.lines.map((line) => line.split(' ').slice(2))).toEqual(same.lines.map(() => ['0', '0', '0']))
  expect(same.lines.map((line) => line.split(' ')[0])).toContain('candle_rows')
  const all = await node.replay(withoutStables(money), { limits: { fromS: 0 } })
  const trades =
    all.lines
      .find((line) => line.startsWith('trade_rows'))
      ?.split(' ')
      .map(Number) ?? []
  expect(trades[2]).toBeGreaterThan(0)
  expect(await node.wrongRows(money)).toEqual([])
  expect(await node.store.query("SELECT name FROM system.databases WHERE name LIKE '%replay_limited'")).toEqual([])
})

it('continues from the checkpoint with money that was never traded, else says why not', async () => {
  const money = marketMoney('continued')
  node.addChain(money)
  const lines = generateRecording({ seed: SEED, chain: money.chain, blocks: 40, options })
  await node.append(money, lines.slice(0, 20))
  const fold = node.fold(money.chain)
  await node.untilServed(money.chain, 20)
  const client = await listen(money.chain)
  const other = { ...money, stables: [...money.stables, '0x00000000000000000000000000000000000057ab'] }
  expect((await node.replay(other, { fromCheckpoint: true })).lines).toEqual([
    'continued continues in epoch 1, with the new money tokens; its history is the same.',
  ])
  await expect(node.replay(withoutStables(money), { fromCheckpoint: true })).rejects.toMatchObject({
    ...{ code: 'replay_needs_history', message: expect.stringContaining('the chain has traded 0x') },
  })
  await node.append(money, lines.slice(20))
  await untilFolded(money.chain, lines.length)
  await fold.stop()
  await node.untilServed(money.chain, lines.length)
  await client.settle()
  client.close()
  expect(client.frames.filter(({ result }) => result?.topic === 'gap')).toEqual([])
  expect((await node.updatesOf(money.chain)).map(({ epoch, seq }) => [epoch, seq])).toEqual(
    lines.map((_line, index) => [1, index + 1]),
  )
  expect(await node.wrongRows(other)).toEqual([])
})
