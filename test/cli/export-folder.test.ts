/** The days of a folder are read one after another. A reorg between two of them must not put a trade into both, or into none. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { fillFolder } from '../../services/cli/export/export-folder.js'
import type { ExportServer } from '../../services/cli/export/export-server.js'

type Days = Record<string, string[]>

/** A server of these days. `moveOn` is called after each file that was read. */
function serverOf(days: Days, moveOn: (read: string) => void): ExportServer & { read: string[] } {
  const read: string[] = []
  return {
    read,
    async open({ date = '' }) {
      const body = Readable.from([Buffer.from((days[date] ?? []).join('\n'))]) as IncomingMessage
      read.push(date)
      moveOn(date)
      return { body, asOf: '' }
    },
    async partitions({ from_time: fromS = 0 }) {
      const listed = Object.entries(days).filter(([date]) => Date.parse(date) / 1000 >= fromS)
      return listed.map(([date, rows]) => ({
        ...{ chain: 'eth', date, rows: rows.length },
        hash: date === '2026-01-01' ? '0' : rows.join(),
      }))
    },
  }
}

const silent = { expect: () => {}, add: () => {}, endFile: () => {}, end: () => {} }

async function fill(server: ExportServer): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-folder-'))
  await fillFolder(folder, { server, asked: { view: 'trades', format: 'jsonl' }, progress: silent })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return files.sort().map((name) => `${name}: ${readFileSync(join(folder, name), 'utf8')}`)
}

const fileOf = (date: string, rows: string) => `chain=eth/date=${date}/part-0.jsonl: ${rows}`

describe('a folder', () => {
  it('has a trade once that a reorg moved to the next day after its first day was read', async () => {
    const days: Days = { '2026-01-01': ['a'], '2026-01-02': ['b', 'moved'], '2026-01-03': ['c'] }
    const server = serverOf(days, () => {
      days['2026-01-02'] = ['b']
      days['2026-01-03'] = ['moved', 'c']
    })
    // The final day is read first, and a reorg before the open days are read does no harm.
    expect(await fill(server)).toEqual([
      fileOf('2026-01-01', 'a'),
      fileOf('2026-01-02', 'b'),
      fileOf('2026-01-03', 'moved\nc'),
    ])
    const late: Days = { '2026-01-02': ['b', 'moved'], '2026-01-03': ['c'] }
    const moving = serverOf(late, (read) => {
      if (read !== '2026-01-02') return
      late['2026-01-02'] = ['b']
      late['2026-01-03'] = ['moved', 'c']
    })
    expect(await fill(moving)).toEqual([fileOf('2026-01-02', 'b'), fileOf('2026-01-03', 'moved\nc')])
    expect(moving.read).toEqual(['2026-01-02', '2026-01-03', '2026-01-02', '2026-01-03'])
  })

  it('is read once if only its last day grows', async () => {
    const days: Days = { '2026-01-02': ['b'], '2026-01-03': ['c'] }
    const server = serverOf(days, () => days['2026-01-03']?.push('new'))
    expect(await fill(server)).toEqual([fileOf('2026-01-02', 'b'), fileOf('2026-01-03', 'c\nnew')])
    expect(server.read).toEqual(['2026-01-02', '2026-01-03'])
  })

  it('is given up if reorgs never end', async () => {
    const days: Days = { '2026-01-02': ['b'], '2026-01-03': ['c'] }
    const server = serverOf(days, () => days['2026-01-02']?.push('x'))
    await expect(fill(server)).rejects.toMatchObject({ code: 'export_changing' })
  })
})
