import { Type } from '@sinclair/typebox'
import { BURN_ADDRESSES } from '../../core/domain/chains.js'
import type { TokenInfo } from '../../core/domain/records.js'
import type { Balance } from '../history/balances.js'
import { type LaunchRates, UNKNOWN_RATES } from '../history/first-buyers.js'
import type { TokenState } from '../memory/served-chain.js'
import {
  decimal,
  decimalOrNull,
  fieldsOf,
  int,
  intOrNull,
  jsonNumberOrNull,
  numOrNull,
  rawOrNull,
  rawToNumber,
  text,
} from './field-formats.js'
import { locksOf, type TokenLock } from './lock-view.js'
import { burntRaw, knownHolders, type Market, moneyOf, supplyOf, targetOf } from './market-facts.js'
import { deepestPairs } from './ranking.js'
import { type RiskFacts, readFacts } from './risk-view.js'

export const RANKED_HOLDERS = 10
/** The pairs with the highest TVL: a chain's native coin is in most of its pairs. */
const DEX_ENTRIES = 100

/** Risk checks as ingest found them; null: not checked. */
const CHECKS = [
  ...(['has_code', 'is_proxy', 'is_open_source', 'has_mint_method', 'has_black_method', 'has_white_method'] as const),
  ...(['transfer_pausable', 'hidden_owner', 'can_take_back_ownership', 'owner_change_balance'] as const),
  ...(['selfdestruct', 'external_call', 'is_anti_whale', 'anti_whale_modifiable', 'trading_cooldown'] as const),
  ...(['slippage_modifiable', 'personal_slippage_modifiable', 'cannot_buy', 'cannot_sell_all'] as const),
  ...(['buy_tax', 'sell_tax', 'transfer_tax', 'buy_gas', 'sell_gas', 'approve_gas'] as const),
  ...(['token_lock_percent', 'pair_lock_percent', 'pair_holders', 'risk_score'] as const),
  ...(['analysis_risk_score', 'analysis_scam_wallet'] as const),
  ...(['analysis_lp_current_adequate', 'analysis_lp_current_volume'] as const),
]

const LAUNCH_RATES = Object.keys(UNKNOWN_RATES) as (keyof LaunchRates)[]

const RankEntry = Type.Object({
  address: text,
  percent: numOrNull,
  quantity: decimal,
  mark: text,
  ...fieldsOf(['is_contract', 'is_lp'], intOrNull),
  lock: Type.Array(Type.Object({ platform: text, amount: decimal, unlock_at: int })),
})

export const ContractView = Type.Object({
  ...fieldsOf(['token', 'chain', 'token_name', 'token_symbol', 'owner', 'creator_address', 'issue_platform'], text),
  decimal: intOrNull,
  holders: intOrNull,
  holders_complete_since: intOrNull,
  creator_launches: intOrNull,
  ...fieldsOf(['is_in_dex'], int),
  ...fieldsOf(CHECKS, numOrNull),
  /** is_honeypot: 1, 0, or -1 if not checked. risk_level: -1 high risk, 0 unverified, 1 listed. */
  ...fieldsOf(['is_honeypot', 'risk_level'], Type.Number()),
  ...fieldsOf(['risk_info', 'holder_analysis', 'previous_owner'], text),
  ...fieldsOf(['total', 'burn_amount', 'lock_amount', 'pair_total', 'creator_balance', 'owner_balance'], decimal),
  ...fieldsOf(['creator_percent', 'owner_percent', 'analysis_creator_gt_5percent', 'analysis_big_wallet'], numOrNull),
  ...fieldsOf(LAUNCH_RATES, numOrNull),
  dex: Type.Array(Type.Object({ ...fieldsOf(['amm', 'name', 'pair'], text), liquidity: decimal })),
  token_holders_rank: Type.Array(RankEntry),
  pair_holders_rank: Type.Array(RankEntry),
})

/** Addresses whose balances the view includes. */
export function contractParties({ info }: TokenState, creator: string): string[] {
  return [info.owner ?? '', creator].filter((address) => address !== '')
}

/**
 * Who sent the transaction that created it (EVM), launched it on a platform or, on EVM chains, provided the first liquidity of its first
 * pool. Empty: unknown.
 */
export function creatorOf(market: Market, token: TokenState, provider: string): string {
  const known = readFacts(token.info.risk).text('creator_address') || launchCreator(market, token)
  const isLaunched = market.facts?.family === 'evm' && !moneyOf(market).includes(token.token)
  return known || (isLaunched ? provider : '')
}

/** Of a token of a launch platform: whoever created its first pool, the curve. Empty: unknown. */
function launchCreator(market: Market, { token, info }: TokenState): string {
  if (info.launch_platform === null) return ''
  const pairs = deepestPairs(market, token, DEX_ENTRIES).filter((pair) => targetOf(pair) === token)
  const first = pairs.reduce<(typeof pairs)[number] | undefined>(
    (earliest, pair) => (earliest === undefined || pair.info.created_at < earliest.info.created_at ? pair : earliest),
    undefined,
  )
  return first?.info.creator ?? ''
}

/** Holders of the token, from the store. */
export type Holdings = {
  largest: readonly Balance[]
  balances: ReadonlyMap<string, string>
  /** Of the wallets that bought first. */
  rates: LaunchRates
  /** Empty: unknown. */
  creator: string
  /** Tokens its creator launched before; null: unknown. */
  earlier: number | null
}

export function contractView(
  market: Market,
  token: TokenState,
  { largest, balances, rates, creator, earlier }: Holdings,
) {
  const { info } = token
  const facts = readFacts(info.risk)
  const locks = locksOf(info)
  const creatorShare = shareOf(market, token, balances.get(creator) ?? null)
  const dex = deepestPairs(market, token.token, DEX_ENTRIES)
  return {
    token: token.token,
    chain: market.state.chain,
    token_name: info.name ?? '',
    token_symbol: info.symbol ?? '',
    decimal: info.decimals,
    total: rawOrNull(info.total_supply, info.decimals),
    holders: knownHolders(token),
    holders_complete_since: info.holders_since,
    ...Object.fromEntries(CHECKS.map((name) => [name, facts.number(name)])),
    ...launchRates(rates, facts),
    creator_launches: earlier,
    is_honeypot: facts.number('is_honeypot') ?? -1,
    risk_level: facts.number('risk_level') ?? 0,
    risk_info: facts.text('risk_info'),
    previous_owner: facts.text('previous_owner'),
    burn_amount: rawOrNull(burntRaw(token), info.decimals),
    lock_amount: rawOrNull(locks.lockedRaw, info.decimals) ?? facts.decimal('lock_amount'),
    pair_total: rawOrNull(locks.sharesRaw, locks.shareDecimals) ?? facts.decimal('pair_total'),
    ...partyFields('owner', info.owner ?? '', market, token, balances),
    ...partyFields('creator', creator, market, token, balances),
    ...holderConcentration(market, token, largest),
    analysis_creator_gt_5percent: creatorShare === null ? null : Number(creatorShare > 0.05),
    owner: info.owner ?? '',
    creator_address: creator,
    is_in_dex: dex.length > 0 ? 1 : 0,
    dex: dex.map(({ pair, info: { amm }, tvl }) => ({ amm, name: amm, pair, liquidity: decimalOrNull(tvl) })),
    token_holders_rank: largest.map((balance) => rankEntry(market, token, balance)),
    pair_holders_rank: pairLockers(info),
    issue_platform: info.launch_platform ?? '',
  }
}

/** Where our history has no launch, what a recording says. */
function launchRates(rates: LaunchRates, facts: RiskFacts): LaunchRates {
  const known = LAUNCH_RATES.map((name) => [name, rates[name] ?? facts.number(name)])
  return Object.fromEntries(known) as LaunchRates
}

/** A holder of this part of the supply can move the price alone. */
const BIG_WALLET = 0.1

/** Of the largest holders without the token's pools and burn addresses; facts of a recording where no balance is known. */
function holderConcentration(market: Market, token: TokenState, largest: readonly Balance[]) {
  const facts = readFacts(token.info.risk)
  if (largest.length === 0)
    return { analysis_big_wallet: facts.number('analysis_big_wallet'), holder_analysis: facts.text('holder_analysis') }
  const people = largest.map((balance) => rankEntry(market, token, balance)).filter(isPerson)
  const shares = people.map(({ percent }) => percent)
  if (shares.some((share) => share === null)) return { analysis_big_wallet: null, holder_analysis: '' }
  const held = shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)
  const top = Math.round(held * 10_000) / 100
  return {
    analysis_big_wallet: Number(shares.some((share) => (share ?? 0) >= BIG_WALLET)),
    holder_analysis: `the ${people.length} largest holders beside pools, lockers and burn addresses have ${top} % of the supply`,
  }
}

function isPerson({ is_lp, mark }: { is_lp: number; mark: string }): boolean {
  return is_lp === 0 && mark === ''
}

/** Null if the balance is unknown. */
function partyFields(
  party: 'owner' | 'creator',
  address: string,
  market: Market,
  token: TokenState,
  balances: ReadonlyMap<string, string>,
) {
  const raw = balances.get(address) ?? null
  return {
    [`${party}_balance`]: rawOrNull(raw, token.info.decimals),
    [`${party}_percent`]: shareOf(market, token, raw),
  }
}

function rankEntry(market: Market, token: TokenState, { holder, balanceRaw }: Balance) {
  const { state, facts } = market
  const pair = state.pairs.get(holder)
  const lock = lockEntries(token.info, 'token', holder, token.info.decimals)
  const isOwnPair = pair !== undefined && [pair.info.token0, pair.info.token1].includes(token.token)
  return {
    address: holder,
    percent: shareOf(market, token, balanceRaw),
    quantity: rawOrNull(balanceRaw, token.info.decimals),
    mark: BURN_ADDRESSES[facts?.family ?? 'evm'].includes(holder) ? 'burn' : lock.length > 0 ? 'lock' : '',
    // Pools and lockers are contracts; other addresses are not checked.
    is_contract: pair === undefined && lock.length === 0 ? null : 1,
    is_lp: isOwnPair ? 1 : 0,
    lock,
  }
}

function lockEntries(info: TokenInfo, of: TokenLock['of'], locker: string, decimals: number | null) {
  return locksOf(info)
    .locks.filter((lock) => lock.of === of && lock.locker === locker)
    .map(({ platform, amountRaw, unlockAtS }) => ({
      ...{ platform, amount: rawOrNull(amountRaw, decimals), unlock_at: unlockAtS },
    }))
}

/** Of the holders of a pool's shares only lockers are known. */
function pairLockers(info: TokenInfo) {
  const { locks, sharesRaw, shareDecimals } = locksOf(info)
  const ofPair = locks.filter(({ of }) => of === 'pair')
  return [...new Set(ofPair.map(({ locker }) => locker))].map((locker) => {
    const raw = ofPair.reduce((sum, lock) => (lock.locker === locker ? sum + BigInt(lock.amountRaw) : sum), 0n)
    return {
      address: locker,
      percent: jsonNumberOrNull(Number(raw) / Number(sharesRaw)),
      quantity: rawOrNull(raw.toString(), shareDecimals),
      ...{ mark: 'lock', is_contract: 1, is_lp: 0 },
      lock: lockEntries(info, 'pair', locker, shareDecimals),
    }
  })
}

/** As a fraction of the total supply. */
function shareOf(market: Market, token: TokenState, raw: string | null): number | null {
  return jsonNumberOrNull(rawToNumber(raw, token.info.decimals) / supplyOf(market, token.token))
}
