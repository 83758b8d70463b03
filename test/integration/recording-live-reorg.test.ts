/** Reorgs across long silences on a node that stays up while `topics import` adds lines. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pairDifferences, playedBy, tokenDifferences } from '../rig/http/against-reference.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { isRetract } from '../rig/reference/lines.js'

const CHAIN = 'silence'
const money = marketMoney(CHAIN)
const options = { quietDay: 0.3, retracts: { probability: 0.08, maxDepth: 6 } }
const lines = generateRecording({ seed: 501, chain: CHAIN, blocks: 80, options })
const FIRST = 10
/** After each retract, after the block that follows it, and at the end. */
const STOPS = lines
  .flatMap((line, at) => (isRetract(line) && at > FIRST ? [at + 1, at + 2] : []))
  .concat(lines.length)
  .map((count, at, all) => ({ count, from: all[at - 1] ?? FIRST }))
  .filter(({ count, from }) => count > from)

const folder = scratchFolder()
let up: Up
let plan: UpPlan

beforeAll(async () => {
  plan = { folder, events: writeRecording(folder, 'first.jsonl', lines.slice(0, FIRST)), chains: [money] }
  up = await startUp(plan)
  await up.applied(CHAIN, FIRST)
})

afterAll(async () => {
  await up.stop()
  removeScratchFolders()
})

test.each(STOPS)('matches the reference after $count lines', async ({ count, from }) => {
  const part = writeRecording(folder, `part-${count}.jsonl`, lines.slice(from, count))
  expect(await runHere(['topics', 'import', part], { cwd: folder, env: environmentOf(plan) })).toMatchObject({
    code: 0,
  })
  await up.applied(CHAIN, count)
  const played = playedBy(lines.slice(0, count), money)
  expect(await pairDifferences(up, played)).toEqual([])
  expect(await tokenDifferences(up, played)).toEqual([])
})
