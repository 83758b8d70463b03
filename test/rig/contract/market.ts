/** The market of the contract tests: several chains with launches, reorgs, liquidity, supplies and holders. */
import type { Profile } from '../../../services/core/domain/records.js'
import { addressOf } from '../market/addresses.js'
import { familyOf } from '../market/money.js'
import {
  acceptedBlocks,
  isRetract,
  type RecordingBlock,
  type RecordingEvent,
  type RecordingLine,
} from '../reference/lines.js'
import { generateTape, type TapePlan } from '../up/recording.js'

export type MarketPair = { chain: string; pair: string; token0: string; token1: string; swaps: number }

export type ContractMarket = {
  lines: RecordingLine[]
  chains: string[]
  /** Address of the token with this symbol. */
  token(chain: string, symbol: string): string
  tokens(chain: string): string[]
  /** Most traded first. */
  pairs(chain: string): MarketPair[]
  /** A token with more holders than a page of top holders. */
  held: { token: string; chain: string; holders: number }
}

/** After all pools are open and below any fork, so that added events are never retracted. */
const SETTLED_BLOCK = 16
const HOLDERS = 130
const BURNT = '0x000000000000000000000000000000000000dead'

export function contractMarket(plan: TapePlan): ContractMarket {
  const lines = generateTape(plan)
  const held = { chain: plan.chains[0] ?? '', symbol: 'MEME', holders: HOLDERS }
  for (const chain of plan.chains) {
    const blocks = acceptedBlocks(lines.filter((line) => line.chain === chain))
    const block = blocks[SETTLED_BLOCK]
    if (block === undefined) throw new Error(`${chain} has too few blocks`)
    addSupplies(block, blocks.slice(0, SETTLED_BLOCK + 1))
    if (chain === held.chain) addHolders(block, tokensOf(blocks).get(held.symbol) ?? '')
  }
  for (const line of lines) if (!isRetract(line) && familyOf(line.chain) === 'solana') addProfiles(line)
  const byChain = new Map(plan.chains.map((chain) => [chain, factsOf(lines, chain)]))
  const facts = (chain: string) => {
    const found = byChain.get(chain)
    if (found === undefined) throw new Error(`no market on ${chain}`)
    return found
  }
  const token = (chain: string, symbol: string): string => {
    const address = facts(chain).tokens.get(symbol)
    if (address === undefined) throw new Error(`no ${symbol} on ${chain}`)
    return address
  }
  return {
    lines,
    chains: [...plan.chains],
    token,
    tokens: (chain) => [...facts(chain).tokens.values()],
    pairs: (chain) => facts(chain).pairs,
    held: { token: token(held.chain, held.symbol), chain: held.chain, holders: held.holders },
  }
}

function factsOf(lines: readonly RecordingLine[], chain: string) {
  const blocks = acceptedBlocks(lines.filter((line) => line.chain === chain))
  const events = blocks.flatMap((block) => block.events)
  const swaps = new Map<string, number>()
  for (const event of events) if (event.type === 'swap') swaps.set(event.pool, (swaps.get(event.pool) ?? 0) + 1)
  const described = new Map(
    events.flatMap((event) => (event.type === 'pool' ? [[event.pool, event] as const] : [])).toReversed(),
  )
  const pairs = [...described].map(([pair, { token0, token1 }]) => ({
    ...{ chain, pair, token0, token1, swaps: swaps.get(pair) ?? 0 },
  }))
  return { tokens: tokensOf(blocks), pairs: pairs.sort((a, b) => b.swaps - a.swaps) }
}

function tokensOf(blocks: readonly RecordingBlock[]): Map<string, string> {
  const events = blocks.flatMap((block) => block.events)
  return new Map(
    events.flatMap((event) => (event.type === 'token' ? [[event.symbol ?? '', event.token] as const] : [])),
  )
}

/** Appends events to a block, in a separate transaction. */
function append(block: RecordingBlock, facts: readonly object[]): void {
  const last = block.events.reduce((highest, { tx_index }) => Math.max(highest, tx_index), -1)
  const lastLog = block.events.reduce((highest, { log_index }) => Math.max(highest, log_index), -1)
  const added = facts.map((one, at) => ({
    ...{ ...one, tx_index: last + 1, log_index: lastLog + 1 + at, tx_hash: `${block.hash}added` },
  }))
  block.events.push(...(added as unknown as RecordingEvent[]))
}

/** Adds supplies, partly burnt, so that tokens have a market value. */
function addSupplies(block: RecordingBlock, before: readonly RecordingBlock[]): void {
  const tokens = [...tokensOf(before).values()]
  const supplies = tokens.map((token) => ({ type: 'meta', token, total_supply: `1${'0'.repeat(27)}` }))
  const burnt = familyOf(block.chain) === 'evm' ? tokens : []
  append(block, [
    ...supplies,
    ...burnt.map((token) => ({ type: 'balance', token, holder: BURNT, balance: `1${'0'.repeat(26)}` })),
  ])
}

function addHolders(block: RecordingBlock, token: string): void {
  const holders = Array.from({ length: HOLDERS }, (_, at) => ({
    ...{ type: 'balance', token, holder: addressOf('evm', `holder/${at}`) },
    balance: `${1 + ((at * 37) % HOLDERS)}${'0'.repeat(22)}`,
  }))
  append(block, holders)
}

/** Adds a profile to every other swap. */
function addProfiles(block: RecordingBlock): void {
  block.events.forEach((event, at) => {
    if (event.type !== 'swap' || at % 2 === 0) return
    const profile: Profile = {
      ...{ token0TotalHolding: at * 1.5, token1TotalHolding: 0, solTotalHolding: 2.25 },
      ...{ token0Address: event.token_in, token1Address: event.token_out },
      ...{ token0HasNewAccount: false, token0HasClosedAccount: true, token0HasClearedAccount: false },
      ...{ token1HasNewAccount: true, token1HasClosedAccount: false, token1HasClearedAccount: at % 3 === 0 },
    }
    event.profile = profile
  })
}
