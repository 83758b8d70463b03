/** Markets with reorgs on a real broker, for the example consumers, and the store that their results must equal. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStateStore } from '../../../services/aggregate/checkpoint/state-store.js'
import { createCodec } from '../../../services/core/log/codec.js'
import type { EventLog } from '../../../services/core/log/port.js'
import type { SchemaRegistry } from '../../../services/core/log/registry.js'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { appendLines, runPipeline } from '../aggregate/pipeline-run.js'
import { storeTargetOf } from '../engine.js'
import { generateRecording } from '../market/generate.js'
import { marketMoney } from '../market/money.js'
import { sharedBroker } from '../servers/shared.js'
import { freshPrefix, openTestLog } from './open-log.js'

export type MarketPlan = {
  chain: string
  seed: number
  blocks: number
  registryOf(log: EventLog): SchemaRegistry
  /** Of a record of the log; a small one makes updates come in parts. */
  maxValueBytes?: number
}

export type ConsumedMarkets = Awaited<ReturnType<typeof openConsumedMarkets>>

export async function openConsumedMarkets() {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-consumers-'))
  const brokers = await sharedBroker()
  const store = await openStore(storeTargetOf(folder))
  await store.migrate()

  /** One chain on a log of its own, played up to a line at a time. */
  function market({ chain, seed, blocks, registryOf, maxValueBytes }: MarketPlan) {
    const prefix = freshPrefix()
    const kafka = openTestLog(brokers, prefix)
    const log = maxValueBytes === undefined ? kafka : { ...kafka, maxValueBytes }
    const codec = createCodec(registryOf(kafka))
    const deps = { facts: marketMoney(chain), log, codec, store, stateStore: memoryStateStore() }
    const options = { retracts: { probability: 0.08, maxDepth: 8 }, secondsPerBlock: 90 }
    const lines = generateRecording({ seed, chain, blocks, options })
    let played = 0
    return {
      ...{ chain, prefix, log, codec, lines: lines.length },
      async playTo(count: number): Promise<void> {
        await appendLines(deps, lines.slice(played, count))
        played = count
        await runPipeline(deps)
      },
    }
  }

  return {
    ...{ folder, brokers, store, market },
    async close(): Promise<void> {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
