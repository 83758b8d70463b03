/** A backup of a busy server, restored elsewhere: no row is wrong, and clients resume by their cursors as if nothing had happened. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { lastUpdate } from '../../services/aggregate/epoch.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { runCommand } from '../rig/http/command.js'
import { type Listener, listenTo } from '../rig/replay/listeners.js'
import { scratchFolder } from '../rig/up/play.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const CHAINS = ['eth', 'bsc', 'solana']
const CLIENTS_EACH = 4
/** Of events: five in six are swaps. */
const EVENTS_PER_S = 1300
const KEY = 'dx_backup_under_load'
const LISTEN_MS = 15_000
const SHORT_MS = 3000

const folder = scratchFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const env = { DEXTAPE_API_KEY: KEY }
const startMarket = (name: string): UpProcess =>
  startUp({ dataDir: join(folder, name), env, args: ['--simulate', '--rate', String(EVENTS_PER_S), '--seed', '7'] })

const seqOf = (cursor: string): number => Number(cursor.split(':')[2])

async function listenToAll(up: UpProcess, since: readonly (string | undefined)[] = []): Promise<Listener[]> {
  const { ws } = await up.serving
  const clients: Listener[] = []
  for (let at = 0; at < CHAINS.length * CLIENTS_EACH; at += 1)
    clients.push(await listenTo(ws, KEY, CHAINS[at % CHAINS.length] ?? '', () => {}, since[at]))
  return clients
}

async function swapsFolded(up: UpProcess): Promise<number> {
  const metrics = await up.metrics()
  return CHAINS.reduce((sum, chain) => sum + (metrics.get(`dextape_fold_swaps_total{chain="${chain}"}`) ?? 0), 0)
}

async function publishedSeqs(dataDir: string): Promise<Map<string, number>> {
  const { log, registry } = openEmbedded({ path: join(dataDir, 'log') })
  const codec = createCodec(registry)
  const seqs = new Map<string, number>()
  for (const chain of CHAINS) seqs.set(chain, (await lastUpdate(log, codec, chain))?.seq ?? 0)
  await log.close()
  return seqs
}

const backUp = () =>
  runCommand(['backup', join(folder, 'backup'), '--data-dir', join(folder, 'busy')], { cwd: folder, env })

const recordsIn = (out: string): number => Number(/(\d+) new records/.exec(out)?.[1])

it('holds everything for verify and for clients that resume', async () => {
  const up = startMarket('busy')
  await up.serving
  const clients = await listenToAll(up)
  const [before, beganMs] = [await swapsFolded(up), performance.now()]
  await sleep(LISTEN_MS)
  const first = await backUp()
  await sleep(LISTEN_MS)
  /** Where clients would resume: what came later must come again. */
  const marks = clients.map(({ cursors }) => cursors.at(-1))
  await sleep(SHORT_MS)
  const second = await backUp()
  expect([first.code, second.code, second.err]).toEqual([0, 0, ''])
  expect(recordsIn(second.out)).toBeLessThan(recordsIn(first.out))
  const perS = ((await swapsFolded(up)) - before) / ((performance.now() - beganMs) / 1000)
  // What a server keeps for clients that resume is limited: the restored one is to start soon.
  expect((await up.stop()).code).toBe(0)

  const beganRestoreMs = performance.now()
  const dataDir = join(folder, 'elsewhere')
  const options = { cwd: folder, env: { ...env, ...storeEnvironmentOf(dataDir) }, withinMs: 600_000 }
  const restored = await runCommand(['restore', join(folder, 'backup'), '--data-dir', dataDir], options)
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('Folded: bsc, eth, solana.')])
  const restoreMs = performance.now() - beganRestoreMs
  const backedUp = await publishedSeqs(dataDir)
  const again = startMarket('elsewhere')
  const resumed = await listenToAll(again, marks)
  // The market goes on after the backup, with reorgs of its own.
  await again.until('live swaps', async () =>
    resumed.every(({ chain, cursors }) => seqOf(cursors.at(-1) ?? '') > (backedUp.get(chain) ?? 0) + 5),
  )
  for (const [at, { chain, cursors, gaps, others }] of resumed.entries()) {
    const had = clients[at]?.cursors ?? []
    expect({ gaps, others }).toEqual({ gaps: [], others: [] })
    const isBackedUp = (cursor: string) => seqOf(cursor) <= (backedUp.get(chain) ?? 0)
    const due = had.slice(had.lastIndexOf(marks[at] ?? '') + 1).filter(isBackedUp)
    expect(due.length).toBeGreaterThan(0)
    expect(cursors.filter(isBackedUp)).toEqual(due)
    const later = cursors.filter((cursor) => !isBackedUp(cursor)).map(seqOf)
    expect(later).toEqual([...later].sort((a, b) => a - b))
    expect(new Set(cursors).size).toBe(cursors.length)
  }
  for (const client of resumed) client.close()
  expect((await again.stop()).code).toBe(0)
  const verified = await runCommand(['verify', '--data-dir', dataDir], options)
  expect({ code: verified.code, err: verified.code === 0 ? '' : verified.out + verified.err }).toEqual({
    ...{ code: 0, err: '' },
  })
  console.info(
    `${Math.round(perS)} swaps/s; backups of ${recordsIn(first.out)} and ${recordsIn(second.out)} records, restored in ${Math.round(restoreMs)} ms`,
  )
})
