/** The pools followed for the prices of money: the same ones after a restart, however liquidity moved meanwhile. */
import { join } from 'node:path'
import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { readJsonFile, writeJsonFile } from '../../../core/runtime/json-file.js'
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
  const file = join(folder, FILE)
  const kept = readJsonFile(file) as { key?: unknown; pools?: string[] } | null | undefined
  if (kept?.key === key && Array.isArray(kept.pools)) return kept.pools
  const pools = await find()
  writeJsonFile(file, { key, pools })
  return pools
}
