/** A damaged log of a chain read from its node: the blocks it has lost are read from the node again, without a command. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { damageMarkOf } from '../../services/core/log/lmdb-file.js'
import { openEnvironment } from '../../services/core/log/lmdb-tables.js'
import { blocksTopic } from '../../services/core/log/port.js'
import { type BasePair, openBasePair } from '../rig/evm/base-pair.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const KEY = 'dx_evm'
const TRADES = 20

let node: EvmNode
let pair: BasePair

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: Math.floor(Date.now() / 1000) - 60 })
  pair = await openBasePair(await openMarket(node))
})
afterAll(async () => {
  await node?.stop()
  removeScratchFolders()
})

const upOn = (dataDir: string): UpProcess =>
  startUp({
    dataDir,
    env: { DEXTAPE_API_KEY: KEY },
    args: ['--chain', 'base', '--rpc', node.url, '--pool', pair.address],
  })

type Point = { time: number; close: string; volume: string }

/** The candles of seconds from a time on. */
async function candlesFrom(rest: string, timeS: number): Promise<Point[]> {
  const path = `/v2/klines/pair/${pair.address}-base?interval=s1&category=r&limit=1000`
  const answer = await fetch(`${rest}${path}`, { headers: { 'x-api-key': KEY } })
  const body = (await answer.json()) as { data?: { points?: Point[] } }
  return (body.data?.points ?? []).filter(({ time }) => time >= timeS)
}

/** Changes a byte of a late record of the blocks, and leaves the mark of a reader who found it. */
async function damageBlocks(path: string): Promise<void> {
  const env = openEnvironment({ path })
  const { id = 0 } = env.topics.get(blocksTopic('base')) ?? {}
  const records = [...env.chunks.getRange({ start: [id], end: [id + 1] })]
  const { key, value } = records[Math.floor(records.length * 0.7)] ?? {}
  if (key === undefined || value === undefined) throw new Error('the log has no blocks')
  const changed = Buffer.from(value)
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1)
  await env.chunks.put(key, changed)
  await env.root.close()
  writeFileSync(damageMarkOf(path), 'damaged')
}

test('a damaged record of the blocks, and all after it', async () => {
  const dataDir = join(scratchFolder(), 'data')
  let up = upOn(dataDir)
  const { rest } = await up.serving
  const times: number[] = []
  for (let turn = 0; turn < TRADES; turn++)
    times.push((await pair.trade(turn % 2 === 0 ? 500 : -400, Math.floor(Date.now() / 1000))).timeS)
  const [firstS = 0] = times
  await up.until('all trades', async () => (await candlesFrom(rest, firstS)).length === TRADES)
  const before = await candlesFrom(rest, firstS)
  expect((await up.stop()).code).toBe(0)

  await damageBlocks(join(dataDir, 'log'))
  up = upOn(dataDir)
  const again = (await up.serving).rest
  await up.until('all trades again', async () => (await candlesFrom(again, firstS)).length === TRADES)
  await up.until('ready', async () => (await fetch(`${again}/ready`)).status === 200)
  expect(await candlesFrom(again, firstS)).toEqual(before)
  const { code, err } = await up.stop()
  expect(code).toBe(0)
  expect(err).toContain('lost blocks are read again from their source')
  const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: dataDir })
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('The store matches the log.') })
})
