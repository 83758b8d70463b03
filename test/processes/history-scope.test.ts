import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ChainSection, loadConfig } from '../../services/core/config/index.js'
import { createLogger } from '../../services/core/runtime/logger.js'
import { type FirstBlock, warnAboutMissingHistory } from '../../services/processes/chain-sources/history-scope.js'

const [A, B, T, F] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string, string]
const FIRST = { number: 1000, timeS: 1_704_412_800 }

/** Warnings at each start of the same history; the first start finds an empty log. */
function warningsAt(...starts: (ChainSection & { first?: FirstBlock })[]): unknown[] {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-scope-'))
  return starts.map(({ first, ...section }, turn) => {
    const { sources } = loadConfig({ env: { DEXTAPE_RPC_BASE: 'http://n' }, cwd: folder, chains: { base: section } })
    const source = sources.get('base')
    if (source === undefined) throw new Error('base has no source')
    const lines: string[] = []
    const logger = createLogger('json', {}, (line) => lines.push(line))
    warnAboutMissingHistory(source, first ?? (turn === 0 ? undefined : FIRST), folder, logger)
    const logged = lines.map((line) => JSON.parse(line) as { added?: string[]; command: string })
    return logged.map(({ added, command }) => [...(added ?? []), command])
  })
}

const BACKFILL = 'dextape backfill --chain base'

it('reports additions to a scope at every start, with the command that backfills them', () => {
  const warnings = warningsAt({ pools: [A] }, { pools: [A] }, { pools: [A, B] }, { pools: [B, A], balances: 'scoped' })
  expect(warnings).toEqual([[], [], [[`pool ${B}`, BACKFILL]], [[`pool ${B}`, 'balances scoped', BACKFILL]]])
})

it('reports a wider scope, but not a narrower one', () => {
  const added = (from: ChainSection, to: ChainSection) => warningsAt(from, to)[1]
  expect(added({ pools: [A] }, {})).toEqual([['all exchanges', BACKFILL]])
  expect(added({ pools: [A] }, { pools: [A], tokens: [T] })).toEqual([[`token ${T}`, BACKFILL]])
  expect(added({ amms: ['curve'] }, { amms: ['curve', 'uniswapv3'] })).toEqual([['exchange uniswapv3', BACKFILL]])
  expect(added({ amms: ['curve'] }, {})).toEqual([['all exchanges', BACKFILL]])
  const contracts = [{ address: F, protocol: 'uniswap-v2', amm: 'mine' }]
  expect(added({}, { contracts })).toEqual([[`contract ${F} (mine)`, BACKFILL]])
  for (const narrower of [{ pools: [A] }, { tokens: [T] }, { amms: ['curve'] }]) expect(added({}, narrower)).toEqual([])
  expect(added({ pools: [A, B] }, { pools: [A] })).toEqual([])
  expect(added({ pools: [A] }, { pools: [A], contracts })).toEqual([])
})

it('reports a start before the first block, but not a reached start or "latest"', () => {
  const warnings = warningsAt(
    { start: 1000 },
    { start: 1000 },
    { start: 10 },
    { start: 'latest' },
    { start: '2024-01-05' },
  )
  expect(warnings).toEqual([[], [], [[`${BACKFILL} --from 10`]], [], []])
  expect(warningsAt({}, { start: '2023-01-05' })[1]).toEqual([[`${BACKFILL} --from 2023-01-05T00:00Z`]])
})
