/** A thread that reads the whole data directory once, slowly, and reports what is damaged. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'lmdb'
import { DextapeError } from '../../core/domain/errors.js'
import { MAP_BYTES } from '../../core/log/lmdb-tables.js'
import type { EventLog } from '../../core/log/port.js'
import { schemaProblemOf } from '../../core/log/salvage-log.js'
import { openConfiguredStore } from '../open-store.js'
import { findBrokenParts, findBrokenTables } from '../repair/check-store.js'
import { problemOf, storeDamage, valueProblemOf } from '../repair/heal-at-start.js'
import { runThread, type ThreadData, type ThreadMethods } from './thread-parts.js'

export type FoundDamage = { part: 'log' | 'state' | 'store'; chain?: string; what: string }

export type CheckMethods = ThreadMethods & { check(): Promise<FoundDamage[]> }

/** It takes this share of one core. */
const SHARE = 0.05
const LONGEST_PAUSE_MS = 2_000
const TRIES = 3

runThread<ThreadData, Record<never, never>, Omit<CheckMethods, keyof ThreadMethods>>(async (parts) => {
  const { data, dir, platform, health, closing, signal } = parts
  const { config, dataDir } = data
  const store = await openConfiguredStore({ ...config, dataDir }, health, signal, closing)
  const pause = createPause(signal)
  const { logPath, statePath } = dir()

  async function checkState(chain: string): Promise<FoundDamage[]> {
    const path = join(statePath, chain)
    const what = (await pinnedProblem(path)) ?? (await valueProblemOf(path, signal))
    return what === undefined ? [] : [{ part: 'state', chain, what }]
  }

  return {
    async check() {
      const found: FoundDamage[] = []
      const problem = (await pinnedProblem(logPath)) ?? (await schemaProblemOf(logPath))
      if (problem !== undefined) return [{ part: 'log', what: problem }]
      const damaged = await checkRecords(platform.log, pause, signal)
      if (damaged !== undefined) return [{ part: 'log', what: damaged }]
      for (const chain of existsSync(statePath) ? readdirSync(statePath) : []) {
        found.push(...(await checkState(chain)))
        await pause()
      }
      const broken = [...(await findBrokenTables(store)), ...(await findBrokenParts(store, pause))]
      if (broken.length > 0) found.push({ part: 'store', what: storeDamage(broken) })
      return found
    },
  }
})

/** The log checks each record as it reads it. */
async function checkRecords(
  log: EventLog,
  pause: () => Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { topic, start } of await log.topics()) {
    for (let from = start; !signal.aborted; ) {
      try {
        const last = (await log.read(topic, { from, maxBytes: 256 * 1024 })).at(-1)
        if (last === undefined) break
        from = last.offset + 1
      } catch (error) {
        if (error instanceof DextapeError && error.code === 'log_damaged') return error.message
        throw error
      }
      await pause()
    }
  }
  return undefined
}

/** A reader of LMDB keeps the pages of its snapshot from being reused while the file is walked. */
async function pinnedProblem(path: string): Promise<string | undefined> {
  const root = open<Buffer, string>({ path, overlappingSync: false, encoding: 'binary', mapSize: MAP_BYTES, maxDbs: 8 })
  try {
    let problem: string | undefined
    for (let tries = TRIES; tries > 0; tries--) {
      const pinned = root.useReadTransaction()
      root.get('', { transaction: pinned })
      problem = problemOf(path)
      pinned.done()
      if (problem === undefined) return undefined
      await sleep(200)
    }
    return problem
  } finally {
    await root.close()
  }
}

/** Sleeps for long enough that the work between two calls takes its share only. */
function createPause(signal: AbortSignal): () => Promise<void> {
  let worked = performance.now()
  return async () => {
    const took = performance.now() - worked
    await sleep(Math.min(LONGEST_PAUSE_MS, took * (1 / SHARE - 1)), undefined, { signal }).catch(() => {})
    worked = performance.now()
  }
}
