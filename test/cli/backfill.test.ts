import { afterEach, describe, expect, it } from 'vitest'
import { abandonGeneration, dropOldGenerations } from '../../services/cli/backfill/backfill-generations.js'
import { lockBackfill } from '../../services/core/data-dir/lock.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import { blocksTopic, deadTopic } from '../../services/core/log/port.js'
import type { OpenChain } from '../../services/processes/chain-sources/open-chain.js'
import { heldBy, heldLive } from '../rig/chains/log-contents.js'
import { type ChainWorld, newChainWorld, until } from '../rig/chains/world.js'
import { generateRecording } from '../rig/market/generate.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const CHAIN = 'eth'
const lines = generateRecording({
  ...{ seed: 5, chain: CHAIN, blocks: 120 },
  options: { retracts: { probability: 0.2, maxDepth: 8 }, swapsPerBlock: 1 },
})
const canonical = (trueLines: number) => acceptedBlocks(lines.slice(0, trueLines))
const hashesFrom = (number: number, trueLines: number) =>
  canonical(trueLines).flatMap((block) => (block.number >= number ? [block.hash] : []))
/** Where the live history begins. */
const LATE = canonical(60)[30]?.number ?? 0
const FIRST = canonical(60)[0]?.number ?? 0

const worlds: ChainWorld[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close()
})

async function newWorld(): Promise<ChainWorld> {
  const world = await newChainWorld({ lines, start: LATE, trueLines: 60 })
  worlds.push(world)
  return world
}

describe('backfill', () => {
  it('writes a longer history, joins it at the head, and switches running processes to it', async () => {
    const world = await newWorld()
    const { ingests } = await world.follow()
    await world.untilLiveAt(60)
    const running = world.backfill({ from: { kind: 'block', number: 0 } })
    world.trueLines = 80
    expect(await running).toBe(0)
    world.trueLines = lines.length
    await world.untilLiveAt(lines.length)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({
      ...{ generation: 2, wrong: [], hashes: hashesFrom(0, lines.length) },
    })
    expect((await heldBy(world.platform, CHAIN, 1)).hashes[0]).toBe(hashesFrom(LATE, 60)[0])
    expect(world.printed[0]).toMatch(`Generation 2 of eth is live: blocks ${FIRST} to `)
    expect(ingests.statuses[0]).toMatchObject({ state: 'running', chain: CHAIN })
  })

  it('starts where the live history starts by default, and can run a second time', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    expect(await world.backfill()).toBe(0)
    expect(await world.backfill({ from: { kind: 'block', number: 0 } })).toBe(0)
    expect(await heldBy(world.platform, CHAIN, 2)).toMatchObject({ wrong: [], hashes: hashesFrom(LATE, 60) })
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({
      ...{ generation: 3, wrong: [], hashes: hashesFrom(0, 60) },
    })
    world.trueLines = 90
    await world.follow()
    await world.untilLiveAt(90)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ wrong: [], hashes: hashesFrom(0, 90) })
  })

  it('resumes after a stop, and rejects a different start', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    // Its node is behind, so the backfill cannot reach the live head.
    const slow = world.openAt(() => 20)
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

  it('leaves no unfinished generation if its start is invalid', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    const ahead: OpenChain = async (options) => ({
      ...(await world.openAt(() => 60)(options)),
      // biome-ignore lint/correctness/useYield: it throws before the first item.
      async *items() {
        throw new DextapeError({ code: 'start_ahead', what: 'The start is ahead of the chain' })
      },
    })
    const mistyped = { kind: 'block', number: 99_999 } as const
    await expect(world.backfill({ from: mistyped }, undefined, ahead)).rejects.toThrow('ahead of the chain')
    expect(await world.backfill({ from: { kind: 'block', number: 0 } })).toBe(0)
    expect((await heldLive(world.platform, CHAIN)).hashes).toEqual(hashesFrom(0, 60))
  })

  it('keeps the live history when abandoned, and does not reuse its number', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    const never: OpenChain = async () => {
      throw new DextapeError({ code: 'node_broken', what: 'The node is broken' })
    }
    await expect(world.backfill({}, undefined, never)).rejects.toThrow('The node is broken')
    await abandonGeneration(world.platform, CHAIN, world.out)
    await expect(abandonGeneration(world.platform, CHAIN, world.out)).rejects.toThrow(/No unfinished backfill/)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 1, hashes: hashesFrom(LATE, 60) })
    expect(await world.backfill()).toBe(0)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 3, hashes: hashesFrom(LATE, 60) })
    await dropOldGenerations(world.platform, CHAIN, world.out)
    expect((await world.platform.log.info(blocksTopic(CHAIN))).start).toBeGreaterThan(0)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 3, hashes: hashesFrom(LATE, 60) })
  })

  it('deletes the dead letters it retried', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    expect(await world.backfill({ dead: true })).toBe(0)
    expect(world.printed).toEqual(['Nothing to do: eth has no dead letters with a block number'])
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

  it('fails without live blocks, and while another backfill runs', async () => {
    const world = await newWorld()
    await expect(world.backfill()).rejects.toThrow(/Cannot backfill eth: the log has no blocks/)
    const lock = lockBackfill(world.dir, CHAIN)
    expect(() => lockBackfill(world.dir, CHAIN)).toThrow(/Another backfill of eth/)
    lock.release()
    lockBackfill(world.dir, CHAIN).release()
  })

  it('restarts a chain that had stopped', async () => {
    const world = await newWorld()
    const first = await world.follow()
    await world.untilLiveAt(60)
    await first.end()
    // This node serves another chain from its first block on, without any published block.
    const other = generateRecording({ seed: 99, chain: CHAIN, blocks: 50, options: { firstNumber: LATE } })
    const elsewhere = world.openAt(() => other.length, other)
    const { ingests } = await world.follow(elsewhere)
    await until('failed', () => ingests.statuses[0]?.state === 'failed')
    expect(ingests.statuses[0]?.error).toMatchObject({ code: 'reorg_too_deep' })
    await world.backfill({}, undefined, elsewhere)
    await until('running again', () => ingests.statuses[0]?.state === 'running')
    const wanted = acceptedBlocks(other).map(({ hash }) => hash)
    expect(await heldLive(world.platform, CHAIN)).toMatchObject({ generation: 2, wrong: [], hashes: wanted })
  })
})
