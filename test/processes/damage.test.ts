/** Damage of a data directory is named and repaired, or the start ends with the remedy; an undamaged one is left alone. */
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backup } from '../../services/cli/backup/backup-format.js'
import { writeBackup } from '../../services/cli/backup/write-backup.js'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { openRepairs } from '../../services/core/data-dir/repairs.js'
import { ConfigError } from '../../services/core/domain/errors.js'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import { STATUS_TOPIC } from '../../services/core/log/port.js'
import { recordProblemOf } from '../../services/core/log/salvage-log.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { findChangedFiles } from '../../services/core/store/store-files.js'
import { healAtStart, problemOf } from '../../services/processes/repair/heal-at-start.js'
import { countOf, seedOf } from '../rig/counts.js'
import { damageAtRandom, isUsedByteChanged } from '../rig/damage.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { runCommand } from '../rig/http/command.js'
import { createRandom } from '../rig/market/random.js'
import { engineExpected } from '../rig/store-engine.js'
import { type Baseline, makeBaseline } from '../rig/up/baseline.js'
import { BUSY } from '../rig/up/play.js'
import { startUp } from '../rig/up/process.js'

const SEED = seedOf('dataDamages')
const DAMAGES = countOf('dataDamages')

let base: Baseline
beforeAll(async () => {
  base = await makeBaseline({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: 30 })
})
afterAll(() => base?.remove())

function copyBase(name: string): string {
  const copy = base.pathOf(name)
  rmSync(copy, { recursive: true, force: true })
  cpSync(base.dataDir, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** What was found, or the message the start would end with. */
async function heal(dataDir: string, isThorough = true): Promise<{ found: string[]; stopped?: ConfigError }> {
  const found: string[] = []
  const repairs = openRepairs(dataDir, silentLogger)
  const noting = {
    ...repairs,
    begin(...[damage, ...rest]: Parameters<typeof repairs.begin>) {
      found.push(damage.what)
      repairs.begin(damage, ...rest)
    },
  }
  const source = { kind: 'recording', file: base.tape } as const
  try {
    await healAtStart(findDataDir(dataDir), { source, repairs: noting, logger: silentLogger, isThorough })
    return { found }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { found, stopped: error }
  }
}

/** Topics by name, each record as text. */
async function recordsOf(dataDir: string): Promise<Map<string, string[]>> {
  const log = openEmbeddedLog({ path: join(dataDir, 'log') })
  const topics = new Map<string, string[]>()
  for (const { topic, start, end } of await log.topics()) {
    const records: string[] = []
    for (let from = start; from < end; from = start + records.length)
      for (const { value } of await log.read(topic, { from })) records.push(Buffer.from(value).toString('base64'))
    topics.set(topic, records)
  }
  await log.close()
  return topics
}

test('an undamaged directory has no damage', async () => {
  const dataDir = copyBase('whole')
  expect(await heal(dataDir)).toEqual({ found: [] })
  expect(findChangedFiles(dataDir)).toEqual([])
})

test('a command names a changed schema; so does a start, without reading every record', async () => {
  const dataDir = copyBase('schema')
  const file = join(dataDir, 'log', 'data.mdb')
  const bytes = readFileSync(file)
  // Of the schema of updates: every copy, one of which is in use.
  for (let at = bytes.indexOf('"BlockUpdate"'); at >= 0; at = bytes.indexOf('"BlockUpdate"', at + 1)) bytes[at] = 0
  writeFileSync(file, bytes)
  const open = () => openEmbeddedLog({ path: join(dataDir, 'log') })
  expect(open).toThrow(/^The log is damaged .*the schemas have a wrong checksum.*a start repairs the log/)
  expect(await heal(dataDir, false)).toEqual({
    found: [expect.stringContaining('is damaged: the schemas have a wrong checksum')],
  })
})

describe('a backup in two runs', () => {
  const restore = (folder: string, dataDir: string) =>
    runCommand(['restore', folder, '--data-dir', dataDir], { cwd: base.pathOf(''), env: storeEnvironmentOf(dataDir) })

  async function backUpTwice(): Promise<{ dataDir: string; folder: string }> {
    const [dataDir, folder] = [copyBase('backed-up'), base.pathOf('backup')]
    rmSync(folder, { recursive: true, force: true })
    await writeBackup(findDataDir(dataDir), folder, 0)
    const log = openEmbeddedLog({ path: join(dataDir, 'log') })
    await log.append(STATUS_TOPIC, [{ key: 'eth', value: Buffer.from('{}'), timestampMs: 1 }])
    await log.close()
    expect(await writeBackup(findDataDir(dataDir), folder, 0)).toMatchObject({ records: 1 })
    return { dataDir, folder }
  }

  test.runIf(engineExpected)('restores every record and row in the same epoch', async () => {
    const { dataDir, folder } = await backUpTwice()
    const restored = base.pathOf('restored')
    // Of a restore that was killed.
    cpSync(join(dataDir, 'log'), join(restored, 'restoring', 'log'), { recursive: true })
    const { code, out } = await restore(folder, restored)
    expect([code, out]).toEqual([0, expect.stringContaining('Folded: eth, solana.')])
    expect(await recordsOf(restored)).toEqual(await recordsOf(dataDir))
    // Topics have other ids than in the log that was backed up.
    expect(await recordProblemOf(join(restored, 'log'))).toBeUndefined()
    expect(openRepairs(restored, silentLogger).list()).toEqual([])
    expect(await base.differencesOf(restored)).toEqual([])
    expect(existsSync(join(restored, 'restoring'))).toBe(false)
  })

  test('of an earlier version: a start is not ready before the chains are folded', async () => {
    const { dataDir, folder } = await backUpTwice()
    const file = join(folder, 'backup.json')
    const { folds: _folds, ...earlier } = JSON.parse(readFileSync(file, 'utf8')) as Backup
    // A server with a fixed key has none in its store.
    writeFileSync(file, JSON.stringify({ ...earlier, tables: { ...earlier.tables, keys: [] } }))
    const restored = base.pathOf('restored-earlier')
    expect(await restore(folder, restored)).toMatchObject({ code: 0 })
    expect(await recordsOf(restored)).toEqual(await recordsOf(dataDir))
    expect(await recordProblemOf(join(restored, 'log'))).toBeUndefined()
    expect(problemOf(join(restored, 'keys'))).toBeUndefined()
    const [repair] = openRepairs(restored, silentLogger).list()
    expect(Object.keys(repair?.until ?? {}).sort()).toEqual(['eth', 'solana'])
  })
})

test('the command repair names what it found, and what is left to do', async () => {
  const dataDir = copyBase('by-hand')
  truncateSync(join(dataDir, 'state/eth/data.mdb'), 5000)
  const { code, out } = await runCommand(['repair', '--data-dir', dataDir], { cwd: base.pathOf('') })
  expect(code).toBe(0)
  expect(out).toContain('state/eth/data.mdb')
  expect(out).toContain('Start `dextape up` to finish the repair.')
})

describe('random damage', () => {
  test(`of ${DAMAGES} kinds (seed ${SEED}) is named if it touches a used byte, and repaired or refused`, async () => {
    const intact = await recordsOf(copyBase('intact'))
    for (let damage = 0; damage < DAMAGES; damage += 1) {
      const dataDir = copyBase('damaged')
      const done = damageAtRandom(dataDir, createRandom(SEED * 1000 + damage))
      const isUsed = isUsedByteChanged(done, join(base.dataDir, relative(dataDir, done.file)))
      const { found, stopped } = await heal(dataDir)
      const outcome = { damage, what: done.what, isNamed: found.length > 0 || stopped !== undefined }
      if (isUsed) expect(outcome).toEqual({ ...outcome, isNamed: true })
      expect(stopped === undefined || stopped.fix !== undefined).toBe(true)
      if (stopped !== undefined) continue
      expect([problemOf(join(dataDir, 'log')), await recordProblemOf(join(dataDir, 'log'))]).toEqual([
        undefined,
        undefined,
      ])
      for (const [topic, records] of await recordsOf(dataDir))
        expect({ ...outcome, topic, records }).toEqual({
          ...outcome,
          topic,
          records: intact.get(topic)?.slice(0, records.length),
        })
    }
  })
})

describe.runIf(engineExpected)('a start of up', () => {
  async function repaired(dataDir: string): Promise<string> {
    const up = startUp({ dataDir, events: base.tape, speed: 'max', config: BUSY })
    const { rest } = await up.serving
    await up.until('the repair', async () => {
      const [ready, status] = await Promise.all([fetch(`${rest}/ready`), fetch(`${rest}/status`)])
      const { damage } = (await status.json()) as { damage: unknown[] }
      return ready.status === 200 && damage.length === 0
    })
    const { err } = await up.stop()
    return err
  }

  test('rebuilds a deleted store from the log, and a cut log from its source; verify finds nothing', async () => {
    const dataDir = copyBase('deleted')
    rmSync(join(dataDir, 'store'), { recursive: true })
    truncateSync(join(dataDir, 'log/data.mdb'), 40_000)
    const err = await repaired(dataDir)
    expect(err).toContain('The store is damaged')
    expect(err).toContain('The log')
    expect(existsSync(join(dataDir, 'repairs.json'))).toBe(false)
    const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: base.pathOf('') })
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('The store matches the log.') })
  })
})
