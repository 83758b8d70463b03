/** A disk that others fill to its last byte under a running `up`, and that has room again later: nothing is lost. Needs root, to mount one. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import type { StatusReport } from '../../services/serve/status-report.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { BUSY, untilSeqs } from '../rig/up/play.js'
import { startUp } from '../rig/up/process.js'
import { generateTape, seqsOf, writeTape } from '../rig/up/recording.js'

const CHAINS = ['eth', 'solana']
const DISK_MB = 256
const RESERVE_MB = 16
const FULL_MS = 60_000

const folder = scratchFolder()
const disk = join(folder, 'disk')
beforeAll(() => {
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk])
})
afterAll(() => {
  execFileSync('umount', ['--lazy', disk])
  removeScratchFolders()
})

function fillToTheLastByte(file: string): void {
  const fd = openSync(file, 'w')
  try {
    for (const bytes of [2 ** 20, 4096, 1]) {
      const chunk = Buffer.alloc(bytes, 1)
      try {
        for (;;) writeSync(fd, chunk)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(fd)
  }
}

test('full when the first checkpoint of a chain is to be created', async () => {
  const state = join(disk, 'state')
  mkdirSync(state)
  const filler = join(disk, 'filler')
  fillToTheLastByte(filler)
  await expect(openStateStore(state)).rejects.toMatchObject({ code: 'state_write_failed', retry: true })
  rmSync(filler)
  await (await openStateStore(state)).close()
  rmSync(state, { recursive: true })
})

test('full for a minute', async () => {
  const lines = generateTape({
    ...{ seed: 5, chains: CHAINS, blocksPerChain: 400 },
    options: { quietDay: 0, quietHour: 0, maxTimeBackS: 0, secondsPerBlock: 4 },
  })
  const seqs = seqsOf(lines)
  const dataDir = join(disk, 'data')
  const up = startUp({
    ...{ dataDir, events: writeTape(join(folder, 'tape.jsonl'), lines), speed: '20' },
    config: { ...BUSY, disk: { reserve_mb: RESERVE_MB } },
  })
  const { rest } = await up.serving
  const report = async () => (await (await fetch(`${rest}/status`)).json()) as StatusReport
  const seqsNow = async () => [...(await up.status()).values()].map(({ seq }) => seq ?? 0)
  await up.until('some blocks', async () => (await seqsNow()).filter((seq) => seq > 20).length === CHAINS.length)
  const filler = join(disk, 'filler')
  fillToTheLastByte(filler)
  await up.until('full', async () => (await report()).disk_space?.state === 'full')
  await sleep(FULL_MS)
  const atFull = await seqsNow()
  expect(atFull.some((seq, at) => seq < ([...seqs.values()][at] ?? 0))).toBe(true)
  expect((await report()).disk_space).toMatchObject({ state: 'full', reserve_bytes: RESERVE_MB * 2 ** 20 })
  // What is known is served.
  expect((await fetch(`${rest}/health`)).status).toBe(200)
  rmSync(filler)
  await untilSeqs(up, seqs).catch(async (error: unknown) => {
    throw new Error(`${error}\n${(await up.kill()).err.slice(-3000)}`)
  })
  const { code, err } = await up.stop()
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  expect(err).toContain('the disk is full')
  const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: folder })
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('The store matches the log.') })
})
