/** LMDB files of machines with other page sizes (16 KB on Apple silicon, 64 KB on some ARM kernels) are read by the same checks. */
import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, it } from 'vitest'
import { dataFileOf, scanLmdbFile, walkLmdbFile } from '../../../services/core/log/lmdb-file.js'

const VALUES = 300
/** Small ones, and some larger than any page. */
const contentOf = (at: number): Buffer => Buffer.alloc((at * 977) % 150_000, at)

it.each([4096, 16_384, 65_536])('with pages of %i bytes', async (pageSize) => {
  const path = mkdtempSync(join(tmpdir(), 'dextape-pages-'))
  try {
    const root = open({ path, noSubdir: false, pageSize })
    const table = root.openDB<Buffer, number>({ name: 'chunks', encoding: 'binary' })
    for (let at = 0; at < VALUES; at += 1) table.put(at, contentOf(at))
    await table.flushed
    await root.close()
    const file = dataFileOf(path)
    const values: Buffer[] = []
    expect(walkLmdbFile(file, ({ value }) => values.push(value)).problems).toEqual([])
    expect(values.map((value) => value.length)).toEqual(Array.from({ length: VALUES }, (_, at) => contentOf(at).length))
    let scanned = 0
    scanLmdbFile(file, () => {
      scanned += 1
    })
    expect(scanned).toBeGreaterThanOrEqual(VALUES)
    truncateSync(file, 20 * pageSize)
    expect(walkLmdbFile(file).problems).not.toEqual([])
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})
