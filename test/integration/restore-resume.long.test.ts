/**
 * Clients whose cursors a restored server cannot continue from, because they are older than what it keeps for clients or newer
 * than the backup: each gets a gap notice, and reads at its path what it missed.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, KEY, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'
import { connect } from '../serve/push-client.js'

const CHAIN = 'eth'
/** An hour: servers keep the last five minutes for clients. */
const TIMES = { blocks: 300, secondsPerBlock: 12 }
const OLD_SEQ = 20
/** A node that is behind gets this long to come to a client's cursor. */
const BEHIND_MS = 10_000

afterAll(removeScratchFolders)

type Swap = { id: string; tx_hash: string; block_number: number }

/** Hashes of the transactions with swaps of each pool, after a line. */
function swapsByPool(lines: readonly RecordingLine[], after: number): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of lines.slice(after))
    for (const event of isRetract(line) ? [] : line.events)
      if (event.type === 'swap') found.set(event.pool, [...(found.get(event.pool) ?? []), event.tx_hash])
  return found
}

function firstBlockAfter(lines: readonly RecordingLine[], seq: number): number {
  const line = lines[seq]
  return line === undefined || isRetract(line) ? 0 : line.number
}

async function swapsAt(up: Up, path: string): Promise<Swap[]> {
  return ((await up.get(path)).body as { data: { txs: Swap[] } }).data.txs
}

async function resume(up: Up, pair: string, cursor: string) {
  const client = await connect(up.wsUrl, { 'x-api-key': KEY })
  await client.call('subscribe', ['tx', pair, CHAIN, { since: [cursor] }], 1)
  const notice = await client.take(({ result }) => result?.topic === 'gap', 'a gap notice')
  return { notice: notice.result, client }
}

it('tells them what they missed, and where to read it', async () => {
  const folder = scratchFolder()
  const options = { quietDay: 0, quietHour: 0, maxTimeBackS: 0, secondsPerBlock: TIMES.secondsPerBlock }
  const lines = generateRecording({ seed: 8, chain: CHAIN, blocks: TIMES.blocks, options })
  const head = lines.length
  const plan: UpPlan = { folder, chains: [marketMoney(CHAIN)], events: writeRecording(folder, 'tape.jsonl', lines) }
  const first = await startUp(plan)
  await first.applied(CHAIN, head)
  expect((await first.stop()).code).toBe(0)
  const backup = join(folder, 'backup')
  expect((await runCommand(['backup', backup], { cwd: folder, env: environmentOf(plan) })).code).toBe(0)

  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  const { events: _events, ...served } = plan
  const restoredPlan: UpPlan = { ...served, folder: elsewhere }
  const restored = await runCommand(['restore', backup], { cwd: elsewhere, env: environmentOf(restoredPlan) })
  expect({ code: restored.code, err: restored.code === 0 ? '' : restored.err }).toEqual({ code: 0, err: '' })
  const up = await startUp(restoredPlan)
  const [pair, due] = [...swapsByPool(lines, OLD_SEQ)].sort(([, a], [, b]) => b.length - a.length)[0] ?? ['', []]

  const old = await resume(up, pair, `1:${CHAIN}:${OLD_SEQ}:0`)
  expect(old.notice).toMatchObject({ from: `1:${CHAIN}:${OLD_SEQ}:0`, to: expect.stringMatching(`^1:${CHAIN}:\\d+:`) })
  const refill = String(old.notice?.refill)
  expect(refill).toMatch(new RegExp(`^/v2/txs/swap/${pair}-${CHAIN}\\?to_time=\\d+$`))
  const firstBlock = firstBlockAfter(lines, OLD_SEQ)
  const refilled = (await swapsAt(up, `${refill}&limit=300`)).filter(({ block_number: block }) => block >= firstBlock)
  const all = (await swapsAt(up, `/v2/txs/swap/${pair}-${CHAIN}?limit=300`)).filter(
    (one) => one.block_number >= firstBlock,
  )
  expect(all.map(({ tx_hash: hash }) => hash)).toEqual(due)
  const pushed: string[] = []
  while (pushed.at(-1) !== all.at(-1)?.id) {
    const { result } = await old.client.take((frame) => frame.result?.topic === 'tx', 'a swap')
    pushed.push((result as { tx: Swap }).tx.id)
  }
  old.client.close()
  // What is read and what is pushed meet in one second of chain time.
  expect([...new Set([...refilled.map(({ id }) => id), ...pushed])]).toEqual(all.map(({ id }) => id))

  const began = Date.now()
  const newer = await resume(up, pair, `1:${CHAIN}:${head + 50}:0`)
  expect(newer.notice).toMatchObject({
    from: `1:${CHAIN}:${head + 50}:0`,
    to: expect.stringMatching(`^1:${CHAIN}:${head}:`),
  })
  newer.client.close()
  expect(Date.now() - began).toBeLessThan(3 * BEHIND_MS)
  expect((await up.stop()).code).toBe(0)
}, 300_000)
