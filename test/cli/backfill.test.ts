import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { abandonGeneration, dropOldGenerations } from '../../services/cli/backfill/old-generations.js'
import type { Wanted } from '../../services/cli/backfill/plan.js'
import { createProgress } from '../../services/cli/backfill/progress.js'
import { runBackfill } from '../../services/cli/backfill/run.js'
import { embeddedPlatform } from '../../services/cli/platform/embedded.js'
import type { Platform } from '../../services/cli/platform/platform.js'
import { openChainIngests } from '../../services/cli/run/chain-ingests.js'
import type { OpenChain } from '../../services/cli/run/open-chain.js'
import { type Config, loadConfig, lockBackfill, openDataDir } from '../../services/core/config/index.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import { blocksTopic, deadTopic } from '../../services/core/log/port.js'
import { createHealth } from '../../services/core/runtime/health.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { heldBy, heldLive } from '../rig/chains/log-contents.js'
import { openMovingChain } from '../rig/chains/moving-chain.js'
import { generateRecording } from '../rig/market/generate.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const CHAIN = 'eth'
const BLOCKS = 120
const lines = generateRecording({
  ...{ seed: 5, chain: CHAIN, blocks: BLOCKS },
  options: { retracts: { probability: 0.2, maxDepth: 8 }, swapsPerBlock: 1 },
})
const canonical = (trueLines: number) => acceptedBlocks(lines.slice(0, trueLines))
const hashesFrom = (number: number, trueLines: number) =>
  canonical(trueLines).flatMap((block) => (block.number >= number ? [block.hash] : []))
/** Where the live history begins. */
const LATE = canonical(60)[30]?.number ?? 0
const FIRST = canonical(60)[0]?.number ?? 0

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function newWorld({ start = LATE, trueLines = 60 } = {}) {
  const dir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-backfill-')))
  const world = { dir, trueLines, printed: [] as string[], platform: openPlatform() }
  const env = { DEXTAPE_RPC_ETH: 'http://127.0.0.1:1' }
  const config: Config = loadConfig({ env, cwd: dir.path, chains: { [CHAIN]: { start } } })
  const source = config.sources.get(CHAIN)
  if (source === undefined) throw new Error('no source')
  const open: OpenChain = async ({ config: { start: from } }) =>
    openMovingChain({ lines, family: 'evm', trueLines: () => world.trueLines, start: from }, `moving:${CHAIN}`)

  function openPlatform(): Platform {
    const platform = embeddedPlatform({ dir: () => dir, logger: silentLogger })
    closing.push(() => platform.close())
    return platform
  }

  const parts = (platform: Platform) => ({
    ...{ platform, config, dataDir: dir, logger: silentLogger, open },
    ...{ health: createHealth({ logger: silentLogger }), metrics: createMetrics({ processMetrics: false }) },
  })

  /** What `up` does with its chains, until it is stopped. */
  async function follow(platform = openPlatform(), opened = open) {
    const stop = new AbortController()
    const ingests = await openChainIngests([source as never], { ...parts(platform), open: opened }, stop.signal)
    const running = ingests.run(stop.signal)
    let stopping: Promise<unknown> | undefined
    const end = () => {
      stop.abort()
      stopping ??= running
      return stopping
    }
    closing.push(end)
    return { ingests, end }
  }

  const out = { line: async (text: string) => void world.printed.push(text) } as never
  const backfill = (wanted: Partial<Wanted> = {}, signal = new AbortController().signal, with_ = open) =>
    runBackfill(
      { ...parts(world.platform), open: with_, out, nowMs: Date.now },
      source as never,
      { from: undefined, dead: false, ...wanted },
      signal,
    )
  return Object.assign(world, { follow, backfill, out, open })
}

type World = ReturnType<typeof newWorld>

async function until(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`never ${what}`)
    await new Promise((next) => setTimeout(next, 5))
  }
}

const untilLiveAt = ({ platform }: World, trueLines: number) =>
  until(`at line ${trueLines}`, async () => {
    const { hashes } = await heldLive(platform, CHAIN)
    return hashes.at(-1) === canonical(trueLines).at(-1)?.hash
  })

describe('backfill', () => {
  it('writes a longer history beside the live one, joins it at the head, and what runs goes on in it', async () => {
    const world = newWorld()
    const { ingests } = await world.follow()
    await untilLiveAt(world, 60)
    const running = world.backfill({ from: { kind: 'block', number: 0 } })
    world.trueLines = 80
    expect(await running).toBe(0)
    world.trueLines = lines.length
    await untilLiveAt(world, lines.length)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({
      ...{ generation: 2, wrong: [], hashes: hashesFrom(0, lines.length) },
    })
    expect((await heldBy(world.platform, CHAIN, 1)).hashes[0]).toBe(hashesFrom(LATE, 60)[0])
    expect(world.printed[0]).toMatch(`Generation 2 of eth is live: blocks ${FIRST} to `)
    expect(ingests.statuses[0]).toMatchObject({ state: 'running', chain: CHAIN })
  })

  it('begins where the live history does unless told, and a second one follows the first', async () => {
    const world = newWorld()
    const first = await world.follow()
    await untilLiveAt(world, 60)
    await first.end()
    expect(await world.backfill()).toBe(0)
    expect(await world.backfill({ from: { kind: 'block', number: 0 } })).toBe(0)
    expect(await heldBy(world.platform, CHAIN, 2)).toMatchObject({ wrong: [], hashes: hashesFrom(LATE, 60) })
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({
      ...{ generation: 3, wrong: [], hashes: hashesFrom(0, 60) },
    })
    world.trueLines = 90
    await world.follow()
    await untilLiveAt(world, 90)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ wrong: [], hashes: hashesFrom(0, 90) })
  })

  it('stopped and started again goes on, from the same place or not at all', async () => {
    const world = newWorld()
    const first = await world.follow()
    await untilLiveAt(world, 60)
    await first.end()
    // Its nodes are only so far: it cannot reach the live head.
    const slow: OpenChain = async ({ config: { start } }) =>
      openMovingChain({ lines, family: 'evm', trueLines: () => 20, start }, `moving:${CHAIN}`)
    const stop = new AbortController()
    const from = { kind: 'block', number: 0 } as const
    const running = world.backfill({ from }, stop.signal, slow)
    await until('writing', async () => (await heldBy(world.platform, CHAIN, 2)).hashes.length > 3)
    stop.abort()
    expect(await running).toBe(1)
    expect(world.printed.at(-1)).toContain('Generation 2 of eth is unfinished')
    const { records } = await heldBy(world.platform, CHAIN, 2)
    await expect(world.backfill({ from: { kind: 'block', number: 7 } })).rejects.toThrow(/--abandon/)
    expect(await world.backfill()).toBe(0)
    const live = await heldLive(world.platform, CHAIN)
    expect(live).toMatchObject({ generation: 2, wrong: [], hashes: hashesFrom(0, 60) })
    expect(live.records).toBeGreaterThan(records)
  })

  it('abandoned leaves the live one alone, and its number is not given again', async () => {
    const world = newWorld()
    const first = await world.follow()
    await untilLiveAt(world, 60)
    await first.end()
    const never: OpenChain = async () => {
      throw new DextapeError({ code: 'node_broken', what: 'The node is broken' })
    }
    await expect(world.backfill({}, undefined, never)).rejects.toThrow('The node is broken')
    await abandonGeneration(world.platform, CHAIN, world.out)
    await expect(abandonGeneration(world.platform, CHAIN, world.out)).rejects.toThrow(/No backfill/)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 1, hashes: hashesFrom(LATE, 60) })
    expect(await world.backfill()).toBe(0)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 3, hashes: hashesFrom(LATE, 60) })
    await dropOldGenerations(world.platform, CHAIN, world.out)
    expect((await world.platform.log.info(blocksTopic(CHAIN))).start).toBeGreaterThan(0)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 3, hashes: hashesFrom(LATE, 60) })
  })

  it('because of dead letters forgets those it decided anew', async () => {
    const world = newWorld()
    const first = await world.follow()
    await untilLiveAt(world, 60)
    await first.end()
    expect(await world.backfill({ dead: true })).toBe(0)
    expect(world.printed).toEqual(['eth has no dead letters of blocks; nothing to do'])
    const { log, codec } = world.platform
    const letter = { ...{ chain: CHAIN, reason: 'bad_log', detail: 'd', source: 's', position: null, at: 1 } }
    const value = codec.encodeDeadLetter(deadTopic(CHAIN), {
      ...letter,
      block_number: FIRST + 3,
      raw: Buffer.from('x'),
    })
    await log.append(deadTopic(CHAIN), [{ key: 'k', value, timestampMs: 1000 }])
    expect(await world.backfill({ dead: true })).toBe(0)
    const live = await heldLive(world.platform, CHAIN)
    expect([live.generation, live.hashes]).toEqual([2, hashesFrom(FIRST + 3, 60)])
    const { start, end } = await log.info(deadTopic(CHAIN))
    expect([start, end]).toEqual([1, 1])
  })

  it('is refused where nothing is live, and while another one runs', async () => {
    const world = newWorld()
    await expect(world.backfill()).rejects.toThrow(/no blocks of eth/)
    const lock = lockBackfill(world.dir, CHAIN)
    expect(() => lockBackfill(world.dir, CHAIN)).toThrow(/Another backfill of eth/)
    lock.release()
    lockBackfill(world.dir, CHAIN).release()
  })

  it('revives a chain that could not go on', async () => {
    const world = newWorld({ trueLines: 60 })
    const first = await world.follow()
    await untilLiveAt(world, 60)
    await first.end()
    // A node that tells another chain from its first block on: nothing published is in it.
    const other = generateRecording({ seed: 99, chain: CHAIN, blocks: 50, options: { firstNumber: LATE } })
    const elsewhere: OpenChain = async ({ config: { start } }) =>
      openMovingChain({ lines: other, family: 'evm', trueLines: () => other.length, start }, `moving:${CHAIN}`)
    const { ingests } = await world.follow(world.platform, elsewhere)
    await until('failed', () => ingests.statuses[0]?.state === 'failed')
    expect(ingests.statuses[0]?.error).toMatchObject({ code: 'reorg_too_deep' })
    await world.backfill({}, undefined, elsewhere)
    await until('running again', () => ingests.statuses[0]?.state === 'running')
    const wanted = acceptedBlocks(other).map(({ hash }) => hash)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 2, wrong: [], hashes: wanted })
  })
})

it('progress is told in blocks, with the rate of the last minute', () => {
  let now = 0
  const progress = createProgress(() => now)
  expect(progress.at(100, 99, 199)).toEqual({ done: 0, total: 100, percent: 0, blocksPerS: 0, leftS: null })
  now = 10_000
  expect(progress.at(100, 119, 199)).toEqual({ done: 20, total: 100, percent: 20, blocksPerS: 2, leftS: 40 })
  now = 80_000
  expect(progress.at(100, 189, 199)).toEqual({ done: 90, total: 100, percent: 90, blocksPerS: 1, leftS: 10 })
})
