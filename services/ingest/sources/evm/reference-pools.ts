/**
 * Reference pools, which price the money of configured pools in USD: a pool against the native coin has no USD price
 * unless pools of that coin against the anchor are followed too.
 */
import { join } from 'node:path'
import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import { type ChainFacts, ZERO_ADDRESS } from '../../../core/domain/chains.js'
import type { KnownContract } from '../../../core/domain/exchanges.js'
import { readJsonFile, writeJsonFile } from '../../../core/runtime/json-file.js'
import { selectorOf } from '../../decode/evm/abi/keccak.js'
import { addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../decode/evm/abi/view-calls.js'
import { balanceCall } from '../../decode/evm/erc20.js'
import type { Call, Reading } from '../../decode/evm/protocol.js'
import type { Venue } from '../../decode/evm/venue.js'
import { moneyOf } from '../following/configured-scope.js'

/** Fee tiers of Uniswap V3 and Pancake V3 factories, hundredths of a basis point. */
const FEE_TIERS = [100, 500, 2500, 3000, 10_000]
/** With three pools, the median keeps one odd pool from setting the price. */
const POOLS_A_TOKEN = 3
const GET_PAIR = selectorOf('getPair(address,address)')
const GET_POOL = selectorOf('getPool(address,address,uint24)')

/** The deepest pools of each token that needs a price, against better-ranked money. `others`: traded tokens besides the venues'. */
export function* findReferencePools(
  venues: readonly Venue[],
  facts: ChainFacts,
  contracts: readonly KnownContract[],
  others: readonly string[] = [],
): Reading<string[]> {
  const found: string[] = []
  const traded = new Set([...venues.flatMap(({ tokens }) => tokens), ...others])
  for (const [token, quotes] of tokensToPrice(traded, facts)) {
    const candidates = yield* poolsOf(token, quotes, contracts)
    const balances = yield candidates.map((pool) => balanceCall(token, pool))
    const pools = candidates.map((pool, place) => ({ pool, depth: answeredUint(balances[place]) ?? 0n }))
    const deepest = pools.filter(({ depth }) => depth > 0n).sort((one, other) => (one.depth < other.depth ? 1 : -1))
    found.push(...deepest.slice(0, POOLS_A_TOKEN).map(({ pool }) => pool))
  }
  const named = new Set(venues.map(({ id }) => id))
  return [...new Set(found)].filter((pool) => !named.has(pool))
}

/** Traded money other than dollars, with its quote tokens; a token priced in the native coin needs that coin's price too. */
function tokensToPrice(
  traded: ReadonlySet<string>,
  { anchor, native, stables, majors }: ChainFacts,
): Map<string, string[]> {
  const dollars = [...(anchor === undefined ? [] : [anchor]), ...stables]
  const wanted = new Map<string, string[]>()
  const majorsTraded = majors.filter((token) => traded.has(token))
  for (const token of majorsTraded) wanted.set(token, native === undefined ? dollars : [...dollars, native])
  if (native !== undefined && (traded.has(native) || majorsTraded.length > 0)) wanted.set(native, dollars)
  return wanted
}

function* poolsOf(token: string, quotes: readonly string[], contracts: readonly KnownContract[]): Reading<string[]> {
  const answers = yield quotes.flatMap((quote) => contracts.flatMap((contract) => poolCalls(token, quote, contract)))
  const pools = answers.map((answer) => answeredAddress(answer))
  return [...new Set(pools)].filter((pool): pool is string => pool !== null && pool !== ZERO_ADDRESS)
}

function poolCalls(token: string, quote: string, { address, protocol }: KnownContract): Call[] {
  const pair = addressWord(token) + addressWord(quote)
  if (protocol === 'uniswap-v2') return [callOf(address, GET_PAIR, pair)]
  if (protocol !== 'uniswap-v3' && protocol !== 'pancake-v3') return []
  return FEE_TIERS.map((fee) => callOf(address, GET_POOL, pair, uintWord(fee)))
}

const FILE = 'reference-pools.json'

/** The inputs they depend on: if pools, money or factories change, they are looked up again. */
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
