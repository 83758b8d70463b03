import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { createAggregate } from '../../services/aggregate/main.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic, SERVE_GROUP, tradesTopic, updatesTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import type { Store } from '../../services/core/store/port.js'
import { chainRecordOf, FOLD_SETTINGS } from '../rig/aggregate/fold-lines.js'
import { MONDAY, MONEY, pool, swap, tape } from '../rig/tape.js'

/** A store that takes everything: what is kept of the updates does not depend on it. */
const sponge = { insertRows: async () => {}, command: async () => {} } as unknown as Store
const SETTINGS = {
  ...FOLD_SETTINGS,
  ...{
    flushEveryMs: 10,
    flushRows: 1000,
    checkpointEveryMs: 10,
    ...{ updatesKeptMs: 86_400_000, updatesHeldMs: 0 },
    deadKeptMs: 86_400_000,
    secondCandlesKeptS: 86_400,
    publishTrades: true,
  },
}

/** A chain with a trade on each of five days. */
function openChain() {
  const path = mkdtempSync(join(tmpdir(), 'dextape-retention-'))
  const { log, registry } = openEmbedded({ path })
  const codec = createCodec(registry)
  const days = tape().block(MONDAY, pool('p', 'a', 'usd'))
  for (let day = 1; day <= 5; day += 1) days.block(MONDAY + day * 86_400, swap('p', 10, 'usd', 5, 'a'))
  const state = memoryStateStore()
  const aggregate = createAggregate({
    ...{ log, codec, store: sponge, settings: SETTINGS, logger: silentLogger, nowMs: Date.now },
    ...{ openState: async () => state, factsOf: () => MONEY },
  })
  const blocks = days.lines.map((line) => chainRecordOf(line, MONEY))
  return {
    ...{ log, blocks, aggregate },
    /** Folds them; `then` runs before the chain is stopped. */
    async play(part: typeof blocks, until: number, then: () => Promise<void> = async () => {}) {
      for (const record of part) {
        if (record.kind !== 'block') continue
        const entry = {
          key: 't',
          value: codec.encodeBlock(blocksTopic('t'), record.block),
          timestampMs: record.block.time * 1000,
        }
        await log.append(blocksTopic('t'), [entry])
      }
      const controller = new AbortController()
      const run = aggregate.runChain('t', controller.signal)
      while (aggregate.status()[0]?.position !== until) await new Promise((resolve) => setTimeout(resolve, 5))
      await then()
      controller.abort()
      await run
    },
    async close() {
      await log.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

it('updates and trades older than a day are forgotten, but of updates never what serve has still to read', async () => {
  const { log, blocks, play, close } = openChain()
  await log.commit(SERVE_GROUP, updatesTopic('t'), 1)
  await play(blocks.slice(0, 6), 6)
  expect(await log.info(updatesTopic('t'))).toMatchObject({ start: 1, end: 6 })
  await log.commit(SERVE_GROUP, updatesTopic('t'), 6)
  await play(blocks.slice(6), 7)
  expect(await log.info(updatesTopic('t'))).toMatchObject({ start: 5, end: 7 })
  expect(await log.info(tradesTopic('t'))).toMatchObject({ start: 3, end: 5 })
  await close()
})

it('on a disk that is nearly full they are forgotten at once, not when the next day begins', async () => {
  const { log, blocks, aggregate, play, close } = openChain()
  await log.commit(SERVE_GROUP, updatesTopic('t'), 1)
  await play(blocks, 7, async () => {
    await log.commit(SERVE_GROUP, updatesTopic('t'), 7)
    await aggregate.retain()
    expect(await log.info(updatesTopic('t'))).toMatchObject({ start: 5, end: 7 })
  })
  await close()
})
