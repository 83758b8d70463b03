/** Applies events of tokens: facts, launches, balances. */
import { BURN_ADDRESSES } from '../../core/domain/chains.js'
import type { BalanceEvent, LaunchEvent, MetaEvent, TokenEvent } from '../../core/domain/records.js'
import { type Balance, newHolding } from '../state/balances.js'
import type { FoldState } from '../state/fold-state.js'
import type { PairText } from '../state/pairs.js'
import { type Launch, TOKEN, type TokenText } from '../state/tokens.js'
import type { BlockChanges } from './block-changes.js'
import { qualifies, setMainPair } from './main-pair.js'
import { firstPrice } from './reference-prices.js'

/** The token's id; one not seen before is added. */
export function tokenId(fold: BlockChanges, address: string): number {
  const { state } = fold
  const known = state.tokens.find(address)
  if (known !== undefined) return known
  const id = state.tokens.add(address, fold.block.time)
  state.markNewToken(id)
  firstPrice(state, id)
  fold.describedTokens.add(id)
  return id
}

export function describe(fold: BlockChanges, id: number, change: Partial<TokenText>): void {
  const { state } = fold
  const old = state.tokens.text[id] as TokenText
  state.touchToken(id)
  state.journal.texts.push({ op: 'tokenText', id, old })
  state.tokens.text[id] = { ...old, ...change }
  state.tokens.rows.set(id, TOKEN.updatedAtS, fold.block.time)
  fold.describedTokens.add(id)
}

/** Fields missing from the event keep their value. */
export function applyToken(fold: BlockChanges, event: TokenEvent): void {
  const id = tokenId(fold, event.token)
  const old = fold.state.tokens.text[id] as TokenText
  describe(fold, id, {
    name: event.name ?? old.name,
    symbol: event.symbol ?? old.symbol,
    totalSupply: event.total_supply ?? old.totalSupply,
  })
  setDecimals(fold, id, event.decimals ?? null)
}

function setDecimals(fold: BlockChanges, id: number, decimals: number | null): void {
  const { tokens } = fold.state
  if (decimals === null || tokens.rows.get(id, TOKEN.decimals) === decimals) return
  tokens.rows.set(id, TOKEN.decimals, decimals)
  for (const pair of tokens.allPairsOf(id)) fold.republishedPairs.add(pair)
}

export function applyMeta(fold: BlockChanges, event: MetaEvent): void {
  if (isOfShares(fold, event)) return
  const id = tokenId(fold, event.token)
  const old = fold.state.tokens.text[id] as TokenText
  describe(fold, id, {
    totalSupply: event.total_supply ?? old.totalSupply,
    owner: event.owner ?? old.owner,
    risk: event.risk ?? old.risk,
    logoUrl: event.logo_url ?? old.logoUrl,
    links: event.links ?? old.links,
    ...holdersSince(fold, event),
  })
}

function holdersSince({ block }: BlockChanges, { holders_complete: isComplete }: MetaEvent): Partial<TokenText> {
  if (isComplete === null || isComplete === undefined) return {}
  return { holdersSinceS: isComplete ? block.time : null }
}

/** Supplies of a pool's shares are the pool's; they are a token of their own only where their balances are followed. */
function isOfShares({ state, republishedPairs }: BlockChanges, { token, total_supply }: MetaEvent): boolean {
  const pair = state.pairs.find(token)
  if (pair === undefined || !isText(total_supply)) return false
  const old = state.pairs.text[pair] as PairText
  state.touchPair(pair)
  state.journal.texts.push({ op: 'pairText', id: pair, old })
  state.pairs.text[pair] = { ...old, shareSupply: total_supply }
  republishedPairs.add(pair)
  return state.tokens.find(token) === undefined
}

export function applyLaunch(fold: BlockChanges, event: LaunchEvent): void {
  const id = tokenId(fold, event.token)
  const old = (fold.state.tokens.text[id] as TokenText).launch
  const pool = event.pool ?? old?.pool ?? null
  const launch: Launch = {
    platform: event.platform,
    stage: event.stage,
    progress: event.progress ?? null,
    pool,
    curvePool: event.stage === 'graduated' ? (old?.curvePool ?? null) : (event.pool ?? old?.curvePool ?? null),
    atS: old?.atS ?? fold.block.time,
  }
  describe(fold, id, { launch })
  fold.rankTokens.add(id)
  if (pool !== null) graduate(fold, id, fold.state.pairs.find(pool))
}

/** A graduated token trades in its new pool from now on: that pool becomes its main pair at once. */
export function graduate(fold: BlockChanges, token: number, pair: number | undefined): void {
  const { state } = fold
  const launch = state.tokens.text[token]?.launch
  if (launch?.stage !== 'graduated' || pair === undefined || launch.pool !== state.pairs.address[pair]) return
  if (state.pairs.targetToken(pair) !== token || !qualifies(state, pair)) return
  const before = state.tokens.rows.get(token, TOKEN.mainPair)
  if (before === pair) return
  if (!fold.mainPairsBefore.has(token)) fold.mainPairsBefore.set(token, before)
  setMainPair(state, token, pair)
}

export function applyBalance(fold: BlockChanges, event: BalanceEvent): void {
  const { state } = fold
  const { holder } = event
  const id = tokenId(fold, event.token)
  // The text that is kept: its hash is known.
  const token = state.tokens.address[id] as string
  const old = state.balance(token, holder)
  const before = old?.raw ?? 0n
  const after = isText(event.balance) ? BigInt(event.balance) : before + BigInt(event.delta ?? '0')
  state.touchToken(id)
  if (old?.seq === state.seq) old.raw = after
  else {
    const of = old?.of ?? newHolding(token, holder)
    const next: Balance = { of, raw: after, updatedAtS: fold.block.time, seq: state.seq }
    state.balances.set(token, holder, next)
    state.journal.holdings.push(of)
    state.journal.balances.push(old ?? null)
    fold.holders.push(next)
  }
  if (BURN_ADDRESSES[state.facts.family].includes(holder)) updateBurntSupply(fold, id, token)
  const held = (after > 0n ? 1 : 0) - (before > 0n ? 1 : 0)
  if (held !== 0) {
    state.tokens.rows.set(id, TOKEN.holders, state.tokens.rows.get(id, TOKEN.holders) + held)
    state.tokens.rows.set(id, TOKEN.countedAtS, state.nowS)
    fold.countedTokens.add(id)
  }
}

function updateBurntSupply({ state, describedTokens }: BlockChanges, id: number, token: string): void {
  const burnt = BURN_ADDRESSES[state.facts.family].map((address) => state.balance(token, address)?.raw ?? 0n)
  const old = state.tokens.text[id] as TokenText
  state.journal.texts.push({ op: 'tokenText', id, old })
  state.tokens.text[id] = {
    ...old,
    burntSupply: burnt.reduce((sum, raw) => (raw > 0n ? sum + raw : sum), 0n).toString(),
  }
  describedTokens.add(id)
}

function isText(value: string | null | undefined): value is string {
  return value !== null && value !== undefined
}

/** Between tokens of equal rank, the one that has a main pair is the quote. */
export function chooseTarget(state: FoldState, token0: number, token1: number): 0 | 1 {
  const { rows } = state.tokens
  const rank0 = rows.get(token0, TOKEN.rank)
  const rank1 = rows.get(token1, TOKEN.rank)
  if (rank0 !== rank1) return rank0 > rank1 ? 1 : 0
  const main0 = rows.get(token0, TOKEN.mainPair) >= 0
  const main1 = rows.get(token1, TOKEN.mainPair) >= 0
  return main0 && !main1 ? 1 : 0
}
