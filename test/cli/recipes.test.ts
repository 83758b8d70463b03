/** Runs the recipes of docs/recipes.md on a data directory; servers and brokers are in integration/recipes.long.test.ts. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { deadTopic, updatesTopic } from '../../services/core/log/port.js'
import { arbitraryRecord, newestSchema } from '../core/log/arbitraries.js'
import { jsonLines } from '../ingest/rig.js'
import { runHere } from '../rig/http/command-here.js'
import { generateRecording } from '../rig/market/generate.js'
import { recipe, recipeTitles, runPipe, startsServer } from '../rig/recipes/recipes.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const market = generateRecording({
  ...{ seed: 3, chain: 'eth', blocks: 40 },
  options: { swapsPerBlock: 1, retracts: { probability: 0.2, maxDepth: 6 } },
})
/** The last block is dead: another version did not accept it. */
const lines = market.slice(0, -1)
const last = market.at(-1)

let cwd: string
const run = async (args: string[]) => (await runHere(args, { cwd })).out
const runRecipe = async (title: string): Promise<string[]> => {
  const outs: string[] = []
  for (const pipe of recipe(title)) if (!pipe.some(startsServer)) outs.push((await runPipe(pipe, cwd)).out)
  return outs
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dextape-recipes-'))
  expect(await runHere(['topics', 'import', '-'], { cwd, stdin: jsonLines(...lines) })).toMatchObject({ code: 0 })
  const { log, registry } = openEmbedded({ path: findDataDir(join(cwd, '.dextape')).logPath })
  const codec = createCodec(registry)
  const dead = {
    ...{ chain: 'eth', reason: 'unknown_event', detail: '', source: 'old.jsonl:9', block_number: null, position: null },
    ...{ raw: Buffer.from(JSON.stringify(last)), at: 1_704_412_900 },
  }
  const letter = codec.encodeDeadLetter(deadTopic('eth'), dead)
  await log.append(deadTopic('eth'), [{ key: 'k', value: letter, timestampMs: dead.at * 1000 }])
  const [update] = fc.sample(arbitraryRecord<never>(newestSchema('block_update')), { numRuns: 1, seed: 1 })
  if (update === undefined) throw new Error('no update')
  const whole = codec.encodeUpdate(updatesTopic('eth'), { ...(update as object), part: 0, last_part: 0 } as never)
  await log.append(updatesTopic('eth'), [{ key: 'eth', value: whole, timestampMs: 0 }])
  await log.close()
})

/** In the order of the page. */
describe('recipes', () => {
  it('are all run, here or with a server, a broker or Flink', () => {
    expect(recipeTitles()).toEqual([
      'Take a day out',
      'Copy a chain into a test environment',
      'Copy a chain to another cluster',
      'Replay a day ten times as fast',
      'Rebuild candles elsewhere',
      'Feed Flink',
      'Find the block where it went wrong',
      'Retry dead letters',
    ])
  })

  it('Take a day out', async () => {
    await runRecipe('Take a day out')
    const count = async (file: string) => await run(['--data-dir', file.replace('.', '-'), 'topics', 'import', file])
    const all = await count('day.jsonl.gz')
    expect(all).toMatch(/^done: \d\d+ blocks, \d+ retracts, \d+ events, 0 dead letters\n$/)
    expect(await count('day.avro')).toBe(all)
    expect(readFileSync(join(cwd, 'day.avro')).subarray(0, 3).toString()).toBe('Obj')
  })

  it('Copy a chain into a test environment', async () => {
    await runRecipe('Copy a chain into a test environment')
    expect(await run(['--data-dir', 'copy', 'topics', 'export', 'eth'])).toBe(await run(['topics', 'export', 'eth']))
  })

  it('Rebuild candles elsewhere', async () => {
    await runRecipe('Rebuild candles elsewhere')
    expect(readFileSync(join(cwd, 'updates.avro')).includes('"BlockUpdate"')).toBe(true)
  })

  it('Find the block where it went wrong', async () => {
    const [, , block = ''] = await runRecipe('Find the block where it went wrong')
    const canonical = acceptedBlocks(lines)
    const half = JSON.parse(await run(['--data-dir', 'half', 'topics', 'tail', 'eth', '-n', '1']))
    expect(half.hash).toBe(canonical.find(({ number }) => number === 1019)?.hash)
    const hash = canonical.find(({ number }) => number === 1020)?.hash
    expect(block).toContain(hash)
  })

  it('Retry dead letters', async () => {
    const outs = await runRecipe('Retry dead letters')
    expect(outs[2]).toBe('Published 1 letter of eth at the end of dex.blocks.eth.\n')
    expect(outs[1]).toContain('Would publish 1 letter of eth')
  })
})
