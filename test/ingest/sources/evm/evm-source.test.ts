import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Block } from '../../../../services/core/domain/records.js'
import { isRetryable } from '../../../../services/core/runtime/backoff.js'
import { silentLogger } from '../../../../services/core/runtime/logger.js'
import { createRules } from '../../../../services/ingest/decode/evm/block/decode-rules.js'
import { PROTOCOLS } from '../../../../services/ingest/decode/evm/protocols.js'
import type { SourceItem } from '../../../../services/ingest/source.js'
import type { Header } from '../../../../services/ingest/sources/evm/chain-reader.js'
import { openBook } from '../../../../services/ingest/sources/evm/kept-book.js'
import { createEvmSource } from '../../../../services/ingest/sources/evm/open-evm-source.js'
import { watchFinality } from '../../../../services/ingest/sources/following/finality.js'
import type { ChainPosition } from '../../../../services/ingest/sources/following/follow-chain.js'
import { seedsOf } from '../../../rig/counts.js'
import { createRandom } from '../../../rig/market/random.js'
import { FACTORY, ForkingChain } from './forking-chain.js'

const DEPTH = 12
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'evm-source-'))
  folders.push(folder)
  return folder
}

type Log = { blocks: Block[]; retracts: number; position: ChainPosition | undefined }
type Given = Exclude<SourceItem<ChainPosition>, { kind: 'idle' }>

/** Reads until `until` returns true; published records are validated like in the fold. */
async function run(
  chain: ForkingChain,
  folder: string,
  log: Log,
  meddle: () => void,
  until: () => boolean,
  dies = () => false,
) {
  const scope = {
    pools: new Set<string>(),
    tokens: new Set<string>(),
    amms: new Set<string>(),
    balances: 'off' as const,
  }
  const contracts = [{ address: FACTORY, protocol: 'uniswap-v2', amm: 'uniswapv2', fee: 3000 }]
  const rules = createRules({
    ...{ chain: 'eth', scope, money: new Set<string>(), protocols: PROTOCOLS, contracts, wrappedNative: undefined },
  })
  const reader = chain.reader(meddle)
  const book = openBook({ path: folder })
  let clockMs = 0
  const source = createEvmSource({
    ...{ chain: 'eth', id: 'evm/eth', name: 'eth nodes', reader, rules, book, logger: silentLogger },
    filter: { addresses: [], topics: rules.topics },
    firstBlock: async () => chain.blocks[1] as Header,
    finality: watchFinality({ kind: 'depth', blocks: DEPTH + 4 }, reader, () => 0),
    progress: { target() {}, at() {} },
    nowMs: () => (clockMs += 1000),
  })
  const stop = new AbortController()
  try {
    let batch: Given[] = []
    for await (const item of source.items(log.position, stop.signal)) {
      if (item.kind !== 'idle') batch.push(item)
      if (item.kind === 'idle' || batch.length >= 7) {
        if (publish(batch, log, dies) === 'died') break
        batch = []
      }
      if (until()) break
    }
  } catch (error) {
    // Like ingest: retryable errors are retried from the last position.
    if (!isRetryable(error)) throw error
  } finally {
    stop.abort()
    await source.close?.()
  }
}

/** Like ingest: the position is read before the batch is appended, and stored after it. */
function publish(batch: readonly Given[], log: Log, dies: () => boolean): 'published' | 'died' {
  const position = batch.at(-1)?.position()
  if (dies()) return 'died'
  for (const item of batch) accept(item, log)
  if (position !== undefined) log.position = position
  return 'published'
}

function accept(item: Given, log: Log): void {
  expect(item.kind).toBe('record')
  if (item.kind !== 'record') return
  const head = log.blocks.at(-1)
  if (item.record.kind === 'block') {
    const { block } = item.record
    if (head !== undefined) expect(block.parent_hash).toBe(head.hash)
    log.blocks.push(block)
  } else {
    const { from_hash, to_hash, to_number } = item.record.retract
    expect(head?.hash).toBe(from_hash)
    while ((log.blocks.at(-1)?.number ?? 0) > to_number) log.blocks.pop()
    expect(log.blocks.at(-1)?.hash).toBe(to_hash)
    log.retracts += 1
  }
}

const withoutFinality = (blocks: readonly Block[]) => blocks.map(({ finalized_number, ...rest }) => rest)

describe('an EVM source', () => {
  it.each(seedsOf('evmForkSeeds'))(
    'publishes the same as a clean run, whatever forks, stale heads and restarts it met (seed %i)',
    async (seed) => {
      const chain = new ForkingChain(seed)
      const random = createRandom(seed + 1000)
      const { next } = random
      const folder = newFolder()
      const log: Log = { blocks: [], retracts: 0, position: undefined }
      let moves = 100
      let highest = 0
      const meddle = () => {
        if (moves <= 0 || next() > 0.35) return
        moves -= 1
        const kind = next()
        if (kind < 0.5) chain.append(1 + Math.floor(next() * 3))
        else if (kind < 0.55) chain.append(40)
        else if (kind < 0.75) {
          highest = Math.max(highest, chain.blocks.length)
          const depth = Math.min(1 + Math.floor(next() * DEPTH), chain.blocks.length - Math.max(14, highest - DEPTH))
          if (depth > 0) chain.fork(depth, 1 + Math.floor(next() * (depth + 3)))
        } else if (kind < 0.9) {
          const behind = chain.blocks.at(-1 - Math.floor(next() * 8))
          if (behind !== undefined) chain.staleHeads.push(behind)
        }
      }
      const isDone = () => moves <= 0 && hasAll(log, chain)
      while (!isDone())
        await run(
          chain,
          folder,
          log,
          meddle,
          () => isDone() || next() < 0.02,
          () => moves > 0 && next() < 0.05,
        )

      const clean: Log = { blocks: [], retracts: 0, position: undefined }
      await run(
        chain,
        newFolder(),
        clean,
        () => {},
        () => clean.blocks.at(-1)?.hash === log.blocks.at(-1)?.hash,
      )
      expect(withoutFinality(log.blocks)).toEqual(withoutFinality(clean.blocks))
      expect(clean.retracts).toBe(0)
    },
  )

  it('stops with the repair command if a reorg goes below finality', async () => {
    const chain = new ForkingChain(7)
    const folder = newFolder()
    const log: Log = { blocks: [], retracts: 0, position: undefined }
    chain.append(60)
    await run(
      chain,
      folder,
      log,
      () => {},
      () => hasAll(log, chain),
    )
    chain.append(60)
    await run(
      chain,
      folder,
      log,
      () => {},
      () => hasAll(log, chain),
    )
    chain.fork(70, 75)
    await expect(
      run(
        chain,
        folder,
        log,
        () => {},
        () => false,
      ),
    ).rejects.toMatchObject({
      code: 'reorg_below_finality',
      retry: false,
      // From its first block on: with --from, the blocks before would be skipped.
      message: expect.stringMatching(/dextape backfill --chain eth (?!--from)/),
    })
  })
})

/** Nothing is pending: the last published block is canonical and no later one has logs. */
function hasAll(log: Log, chain: ForkingChain): boolean {
  const last = log.blocks.at(-1)
  const needed = chain.blocks.findLast(({ logs }) => logs.length > 0)
  return last !== undefined && chain.blocks[last.number]?.hash === last.hash && last.number >= (needed?.number ?? 0)
}
