/** `dead retry` on a data directory: letters that an older version wrote become records of this one. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findDataDir } from '../../../services/core/data-dir/data-dir.js'
import { lockDataDir } from '../../../services/core/data-dir/lock.js'
import type { DeadLetter } from '../../../services/core/domain/records.js'
import { createCodec } from '../../../services/core/log/codec.js'
import { openEmbedded } from '../../../services/core/log/embedded-log.js'
import { deadTopic } from '../../../services/core/log/port.js'
import { jsonLines } from '../../ingest/rig.js'
import { blockAt, type Raw, rawSwap } from '../../ingest/samples.js'
import { runHere } from '../../rig/http/command-here.js'

const run = (dir: string, args: string[], stdin = '') => runHere(args, { cwd: dir, stdin })

const block = (number: number, over: Raw = {}): Raw => ({ ...blockAt(number), finalized_number: 0, ...over })

/** A data directory with these blocks, and letters as another version would have written them. */
async function directory(blocks: Raw[], letters: Partial<DeadLetter>[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-retry-'))
  await run(dir, ['topics', 'import', '-'], jsonLines(...blocks))
  const { log, registry } = openEmbedded({ path: findDataDir(join(dir, '.dextape')).logPath })
  const codec = createCodec(registry)
  for (const letter of letters) {
    const whole = {
      ...{ chain: 'eth', reason: 'unknown_event', detail: '', source: 'old.jsonl:1' },
      ...{ block_number: null, position: null, raw: Buffer.alloc(0), at: 1_704_412_000, ...letter },
    }
    const topic = deadTopic(whole.chain)
    await log.append(topic, [{ key: 'k', value: codec.encodeDeadLetter(topic, whole), timestampMs: whole.at * 1000 }])
  }
  await log.close()
  return dir
}

const line = (value: unknown, over: Partial<DeadLetter> = {}): Partial<DeadLetter> => ({
  raw: Buffer.from(JSON.stringify(value)),
  ...over,
})

const exported = async (dir: string, topic = 'eth'): Promise<string> =>
  (await run(dir, ['topics', 'export', topic])).out

describe('dead retry', () => {
  it('appends what continues the chain, also a line that named no chain, and does so once', async () => {
    const dir = await directory([block(1)], [line(block(3), { chain: 'unknown' }), line(block(2))])
    const whole = await directory([block(1), block(2), block(3)], [])
    expect(await run(dir, ['dead', 'retry', 'eth', '--dry-run'])).toMatchObject({
      ...{ code: 0, out: 'Would publish 2 letters of eth at the end of dex.blocks.eth.\n' },
    })
    expect(await run(dir, ['dead', 'retry', 'eth'])).toMatchObject({
      ...{ code: 0, out: 'Published 2 letters of eth at the end of dex.blocks.eth.\n' },
    })
    expect(await exported(dir)).toBe(await exported(whole))
    expect(await run(dir, ['dead', 'retry', 'eth'])).toMatchObject({
      ...{ code: 0, out: '2 letters stay dead: the log has it already\n' },
    })
    expect(await exported(dir)).toBe(await exported(whole))
  }, 60_000)

  it('writes a generation with what belongs into the past, and leaves the old records as they are', async () => {
    const swap = rawSwap({ log_index: 9 })
    const dir = await directory(
      [block(1), block(3)],
      [
        line(block(2)),
        line(swap, { block_number: 3, position: '3:9:0', at: 1_704_412_003 }),
        line(rawSwap(), { block_number: 3, position: '3:7:0', at: 1_704_412_003 }),
        line(swap, { block_number: 7, position: '3:9:0', at: 1_704_412_007 }),
      ],
    )
    const before = await exported(dir, 'dex.blocks.eth')
    const whole = await directory([block(1), block(2), block(3, { events: [rawSwap(), swap] })], [])
    expect((await run(dir, ['dead', 'retry', 'eth'])).out.split('\n')).toEqual([
      '1 letter stays dead: its block has an event at its position already',
      '1 letter stays dead: its block is not on the log',
      'Published 2 letters of eth in generation 2, which is live now (was generation 1).',
      'Processes fold it in a new epoch. Delete the old one with `dextape backfill --chain eth --drop-old`.',
      '',
    ])
    expect(await exported(dir)).toBe(await exported(whole))
    expect(await exported(dir, 'dex.blocks.eth')).toBe(before)
    expect((await run(dir, ['dead', 'retry', 'eth'])).out).not.toContain('Published')
    expect((await run(dir, ['topics', 'ls'])).out).not.toContain('g3')
  }, 60_000)

  it('writes new letters of the events that are still invalid, before their block', async () => {
    const dir = await directory([block(1)], [line(block(2, { events: [rawSwap(), rawSwap({ type: 'later' })] }))])
    expect((await run(dir, ['dead', 'retry', 'eth'])).out).toContain('Published 1 letter of eth')
    const letters = (await run(dir, ['dead', 'ls', 'eth', '--json'])).out
    expect(JSON.parse(letters)).toMatchObject({ reason: 'unknown_event', letters: 2 })
  }, 60_000)

  it('says why the rest stays dead, and which command helps', async () => {
    const dir = await directory(
      [block(1)],
      [
        line('{'),
        line({ address: '0x1', topics: [] }, { block_number: 1, position: '1:1:0', source: 'eth nodes' }),
        line(rawSwap(), { block_number: 1, position: '3:7:0', source: 'dex.blocks.eth@0', reason: 'pool_unknown' }),
        line('', { source: 'dex.blocks.eth@4', reason: 'undecodable' }),
        line(block(2), { detail: 'x (raw cut to 5 of 9 bytes)' }),
        line({ ...block(2), simulated_seed: 7 }),
        line(block(4)),
      ],
    )
    const { code, out } = await run(dir, ['dead', 'retry', 'eth'])
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').sort()).toEqual([
      '1 letter stays dead: it does not continue a block of the log, nor is it missing between two',
      '1 letter stays dead: it holds what a node returned: `dextape backfill --chain eth --dead` decodes it again',
      '1 letter stays dead: its block has the event: `dextape replay --chain eth` folds it with newer rules, `dextape backfill --chain eth --dead` reads missing descriptions from the nodes',
      '1 letter stays dead: its market is another one than that of the data',
      '1 letter stays dead: still invalid (not_a_record)',
      '1 letter stays dead: the letter holds only a part of the input: import the file again, into a new data directory',
      '1 letter stays dead: the record is on the log: `dextape replay --chain eth` reads it with this version',
    ])
    expect((await run(dir, ['dead', 'retry', 'bsc'])).out).toBe('no dead letters\n')
  }, 60_000)

  it('is refused while up runs, except as a dry run', async () => {
    const dir = await directory([block(1)], [line(block(2))])
    const lock = lockDataDir(findDataDir(join(dir, '.dextape')))
    expect(await run(dir, ['dead', 'retry', 'eth'])).toMatchObject({ code: 78, out: '' })
    expect(await run(dir, ['dead', 'retry', 'eth', '--dry-run'])).toMatchObject({ code: 0 })
    lock.release()
  }, 60_000)
})
