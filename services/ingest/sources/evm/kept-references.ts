/** The pools followed for the prices of money: the same ones after a restart, however liquidity moved meanwhile. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { moneyOf } from '../following/configured-money.js'

const FILE = 'reference-pools.json'

/** What they follow from: other pools, other money or other factories have others. */
export function referenceKey({ scope, contracts }: EvmSourceConfig, facts: ChainFacts): string {
  const money = moneyOf(facts).map(({ rank, token }) => `${rank} ${token}`)
  return JSON.stringify([[...scope.pools].sort(), money.sort(), contracts.map(({ address }) => address).sort()])
}

export async function keptReferences(
  folder: string,
  key: string,
  find: () => Promise<string[]>,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, FILE)
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { key: string; pools: string[] }) : null
  if (kept?.key === key) return kept.pools
  const pools = await find()
  // Whole or not at all, however the process ends.
  writeFileSync(`${file}.new`, JSON.stringify({ key, pools }))
  renameSync(`${file}.new`, file)
  return pools
}
