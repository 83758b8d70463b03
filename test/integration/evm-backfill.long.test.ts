/**
 * `backfill` on a real chain, under an `up` that started late, while the market trades and reorgs.
 * The live history afterwards must match the contracts.
 */
import { expect, it } from 'vitest'
import { liveGeneration, openLog } from '../../services/cli/open-data.js'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { linesOf } from '../rig/chains/log-contents.js'
import { differencesFromContracts } from '../rig/evm/against-contracts.js'
import { playMarket } from '../rig/evm/market.js'
import { chainForTests, headOf, planOf } from '../rig/evm/market-up.js'
import { openMarket } from '../rig/evm/opening.js'
import { chainFactsOf } from '../rig/evm/source-run.js'
import { truth } from '../rig/evm/truth.js'
import { runCommand } from '../rig/http/command.js'
import { dataDirOf, environmentOf, startUp } from '../rig/http/up.js'
import { recompute } from '../rig/reference/recompute.js'

const chain = chainForTests()

const head = () => headOf(chain())

it('replaces a live history with a longer one while the chain moves', async () => {
  const market = await openMarket(chain())
  const facts = chainFactsOf(market.contracts)
  const late = await head()
  const upPlan = planOf(market, { start: late, balances: 'all', finality: 64 })
  const { folder } = upPlan
  const up = await startUp(upPlan)
  await up.until('base', 'followed', (status) => status.indexed_from === late)
  const { pools } = await playMarket(market, { seed: 1, blocks: 20, reorgChance: 0.1 })
  const env = environmentOf(upPlan)
  const [backfill, played] = await Promise.all([
    runCommand(['backfill', '--chain', 'base', '--from', '1'], { cwd: folder, env, withinMs: 60_000 }),
    playMarket({ ...market, pools }, { seed: 2, blocks: 40, reorgChance: 0.15 }),
  ])
  expect({ code: backfill.code, err: backfill.code === 0 ? '' : backfill.err }).toEqual({ code: 0, err: '' })
  expect(backfill.out).toContain('Generation 2 of base is live: blocks 1 to ')
  const last = await head()
  // Two parts report the folded and the served state; either may be ahead.
  const served = await up.until(
    'base',
    'served from block 1 in epoch 2',
    ({ epoch, head: at, indexed_from: from }) => epoch === 2 && at === last && from === 1,
  )
  expect(served).toMatchObject({ stopped: null, dead_letters: 0, source: 'base nodes' })
  expect((await up.stop()).code).toBe(0)

  const open = await openLog({ log: { kind: 'embedded' } }, () => findDataDir(dataDirOf(folder)))
  const lines = await linesOf(open, 'base', await liveGeneration(open.log, 'base'))
  await open.log.close()
  const reader = new Reader()
  for (const result of foldLines(startFold(facts), lines)) reader.read(result)
  const onChain = await truth(market, played.pools)
  expect({
    fromContracts: differencesFromContracts(market, played.pools, onChain, lines, reader).slice(0, 20),
    fromReference: differencesFromReference(reader, recompute(lines, facts), facts).slice(0, 20),
  }).toEqual({ fromContracts: [], fromReference: [] })
  const { code, out, err } = await runCommand(['verify'], { cwd: folder, env })
  expect({ code, err: code === 0 ? '' : `${out}\n${err}` }).toEqual({ code: 0, err: '' })
})
