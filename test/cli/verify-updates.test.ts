import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { verifyUpdates } from '../../services/cli/verify/compare.js'
import { fingerprintOf } from '../../services/cli/verify/refold.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { updatesTopic } from '../../services/core/log/port.js'
import { CHAIN, update } from '../serve/updates.js'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** What verify reports for a log with these updates, if the fold gives seq 1 to 4. */
async function verified(written: readonly BlockUpdate[]): Promise<{ compared: number; wrong: string[] }> {
  const path = mkdtempSync(join(tmpdir(), 'dx-verify-'))
  folders.push(path)
  const { log, registry } = openEmbedded({ path })
  try {
    const codec = createCodec(registry)
    const topic = updatesTopic(CHAIN)
    await codec.prepare(topic, ['update'])
    const encoded = (one: BlockUpdate) => codec.encodeUpdate(topic, one)
    await log.append(
      topic,
      written.map((one) => ({ key: CHAIN, value: encoded(one), timestampMs: 0 })),
    )
    const updates = new Map([1, 2, 3, 4].map((seq) => [seq, fingerprintOf(encoded(update({ seq })))]))
    const { compared, wrong } = await verifyUpdates(
      { log, codec },
      { chain: CHAIN, epoch: 1, seq: 4, updates },
      () => {},
    )
    return { compared, wrong }
  } finally {
    await log.close()
  }
}

const withSeqs = (...seqs: number[]): BlockUpdate[] => seqs.map((seq) => update({ seq }))

it('accepts repeated updates with the same bytes', async () => {
  expect(await verified(withSeqs(1, 2, 3, 2, 3, 4))).toEqual({ compared: 4, wrong: [] })
})

it('reports a missing seq', async () => {
  expect(await verified(withSeqs(1, 2, 4))).toEqual({ compared: 3, wrong: ['seq 4 follows 2'] })
})

it('reports a repeated update with different bytes', async () => {
  const other = { ...update({ seq: 2 }), hash: '0xother' }
  expect(await verified([...withSeqs(1, 2, 3), other, ...withSeqs(4)])).toEqual({
    compared: 4,
    wrong: ['the update of seq 2 differs from the replay'],
  })
})
