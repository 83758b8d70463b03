/**
 * A token's risk facts under the API's names, from what was read of it. 1 is yes, 0 is no, -1 is not known: 0 is only said
 * where the code or a trial shows it. What could not be checked is listed.
 */
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { type LockInspection, lockFacts } from '../../lock-facts.js'
import { type Reason, scoreOf } from '../../risk-score.js'
import type { TokenInspection } from './inspect-token.js'
import { type Power, type Powers, powersOf } from './powers.js'
import { surveyCode } from './survey-code.js'
import type { TrialFindings, TrialMode } from './trade-trial.js'

type Known = -1 | 0 | 1

/** A tax from here on takes the sale for one that cannot be made. */
const HONEYPOT_TAX = 0.9
const TAX_DIGITS = 10_000
/** Below this many raw units a tax cannot be told from rounding. */
const LEAST_MEASURED = 1_000n

type TradeFacts = {
  is_honeypot: Known
  cannot_buy: Known
  cannot_sell_all: Known
  is_anti_whale: Known
  trading_cooldown: Known
  buy_tax: number
  sell_tax: number
  transfer_tax: number
  buy_gas: number
  sell_gas: number
  approve_gas: number
}

/** What was read beside the contract; null: not read, or unknown. */
type Beside = { locks: LockInspection | null; creator: string | null }
const NOTHING: Beside = { locks: null, creator: null }

export type TokenRisk = { owner: string | null; risk: Record<string, unknown> }

/** Null: the node did not tell the code, so nothing is known. `block`: where it was read. */
export function riskOf(read: TokenInspection, block: number, { locks, creator }: Beside = NOTHING): TokenRisk | null {
  const { code, logic, proxy, owner, pool } = read
  if (code === null) return null
  const powers = logic === null || logic.length === 0 ? null : powersOf(surveyCode(logic))
  const trade = tradeFacts(read.trials)
  const held = locks === null ? null : lockFacts(locks)
  const contract = { ...contractFacts(read, powers), is_lp_not_locked: held?.isLpNotLocked ?? -1 }
  const unchecked = uncheckedOf({ ...contract, ...trade }, read)
  const reasons = [
    ...tradeReasons(trade, pool !== null),
    ...contractReasons(read, powers, contract),
    ...(held?.reasons ?? []),
  ]
  const isTried = trade.is_honeypot === 0 && trade.sell_tax >= 0 && trade.transfer_tax >= 0 && trade.buy_tax >= 0
  const isProven = isTried && powers !== null && powers.opaque === null && powers.unknown.length === 0
  const { reasons: words, ...score } = scoreOf(reasons, isProven && proxy === null)
  return {
    owner,
    risk: {
      ...contract,
      ...trade,
      ...held?.facts,
      ...(creator === null ? {} : { creator_address: creator }),
      ...score,
      risk_info: {
        reasons: words,
        unchecked,
        checked_at_block: block,
        ...(pool === null ? {} : { pool: pool.pool }),
        ...(proxy === null ? {} : { proxy: proxy.kind, implementation: proxy.implementation }),
        ...(proxy?.admin == null ? {} : { proxy_admin: proxy.admin }),
        ...(powers === null || powers.found.size === 0 ? {} : { functions: [...powers.found.values()].flat().sort() }),
        ...(powers === null || powers.unknown.length === 0 ? {} : { unknown_functions: powers.unknown }),
      },
    },
  }
}

function contractFacts({ code, proxy, owner }: TokenInspection, powers: Powers | null) {
  /** No function of unknown purpose and nothing unread: then what was not found is not there. */
  const isComplete = powers !== null && powers.opaque === null && powers.unknown.length === 0
  const power = (name: Power): Known => (powers?.found.has(name) === true ? 1 : isComplete ? 0 : -1)
  const said = (value: boolean | undefined, isSure: boolean): Known => (value === true ? 1 : isSure ? 0 : -1)
  const isFollowed = powers !== null && powers.opaque === null
  const isRenounced = owner !== null && isNobody(owner)
  const hasPowers = powers === null || powers.found.size > 0 || !isComplete
  const isReplaceable = proxy !== null && proxy.kind !== 'eip1167'
  return {
    has_code: code !== null && code.length > 0 ? 1 : 0,
    is_proxy: proxy === null ? 0 : 1,
    ...{ is_open_source: -1, has_not_open_source: -1, has_not_audited: -1, is_lp_not_locked: -1, is_in_blacklist: -1 },
    ...{ has_mint_method: power('mint'), is_mintable: power('mint') },
    ...{ has_black_method: power('blacklist'), has_white_method: power('whitelist') },
    transfer_pausable: power('pause'),
    owner_change_balance: power('balances'),
    can_take_back_ownership: isReplaceable ? 1 : power('takeBack'),
    // An owner nobody sees: the contract names none, but somebody can replace its code.
    hidden_owner:
      isReplaceable && (owner === null || isRenounced) ? 1 : hasPowers && isRenounced ? -1 : said(false, isComplete),
    has_not_renounced: owner === null ? (hasPowers || isReplaceable ? -1 : 0) : isRenounced && !isReplaceable ? 0 : 1,
    selfdestruct: said(powers?.destroys, isFollowed),
    external_call: said(powers?.delegates === true || powers?.moves.callsOut, isFollowed),
    anti_whale_modifiable: power('limits'),
    slippage_modifiable: power('fees'),
    personal_slippage_modifiable: power('personalFees'),
  } satisfies Record<string, Known>
}

function tradeFacts(trials: Partial<Record<TrialMode, TrialFindings>>): TradeFacts {
  const { trade, sell, transfer, large } = trials
  if (trade === undefined) return UNTRIED
  if (!trade.bought) return { ...UNTRIED, cannot_buy: 1 }
  const sellsAlone = sell !== undefined && sell.rest > 0n && sell.approved ? sell.soldAll : null
  const sells = trade.sold || sellsAlone === true
  const buy_tax = taxOf(trade.sentByPool, trade.received)
  const measured = trade.sold || trade.paid ? trade : sell
  const sell_tax = measured === undefined ? -1 : taxOf(measured.sellSent, measured.sellArrived)
  const moved = [trade, transfer].find((one) => one?.transferred === true)
  // A tax may be taken from what arrives or on top of what leaves.
  const transfer_tax =
    moved === undefined
      ? -1
      : Math.max(taxOf(moved.transferSent, moved.transferArrived), taxOf(moved.transferLeft, moved.transferSent))
  const waits = (!trade.sold && sellsAlone === true) || (!trade.transferred && transfer?.transferred === true)
  return {
    is_honeypot: sells && sell_tax < HONEYPOT_TAX && buy_tax < HONEYPOT_TAX ? 0 : 1,
    cannot_buy: 0,
    cannot_sell_all: trade.soldAll ? (large?.bought === true && !large.soldAll ? 1 : 0) : sellsAlone === true ? 0 : 1,
    is_anti_whale: large === undefined ? -1 : large.bought ? 0 : 1,
    // A second movement in the block of the purchase worked, or none did.
    trading_cooldown: waits ? 1 : trade.sold || trade.transferred ? 0 : -1,
    ...{ buy_tax, sell_tax, transfer_tax },
    ...{ buy_gas: trade.buyGas, sell_gas: trade.sold ? trade.sellGas : -1, approve_gas: trade.approveGas },
  }
}

const UNTRIED: TradeFacts = {
  ...{ is_honeypot: -1, cannot_buy: -1, cannot_sell_all: -1, is_anti_whale: -1, trading_cooldown: -1 },
  ...{ buy_tax: -1, sell_tax: -1, transfer_tax: -1, buy_gas: -1, sell_gas: -1, approve_gas: -1 },
}

/** The part of `sent` that did not arrive. */
function taxOf(sent: bigint, arrived: bigint): number {
  if (sent < LEAST_MEASURED) return -1
  if (arrived >= sent) return 0
  return Number(((sent - arrived) * BigInt(TAX_DIGITS) + sent / 2n) / sent) / TAX_DIGITS
}

function tradeReasons(trade: TradeFacts, hasPool: boolean): Reason[] {
  const reasons: Reason[] = []
  const add = (isSo: boolean, points: number, text: string) => isSo && reasons.push({ text, points })
  const percent = (tax: number) => `${Math.round(tax * TAX_DIGITS) / 100} %`
  add(!hasPool, 25, 'no pool is known in which a trade can be simulated')
  add(hasPool && trade.is_honeypot === -1 && trade.cannot_buy !== 1, 25, 'the node could not simulate a trade')
  add(trade.cannot_buy === 1, 40, 'a simulated purchase failed')
  add(trade.is_honeypot === 1, 100, 'what is bought cannot be sold: the simulated sale failed or gave nothing')
  add(trade.cannot_sell_all === 1 && trade.is_honeypot !== 1, 40, 'not everything that is bought can be sold')
  const taxes = Object.entries({ purchase: trade.buy_tax, sale: trade.sell_tax, transfer: trade.transfer_tax })
  const worst = Math.max(...taxes.map(([, tax]) => tax))
  const lost = taxes.filter(([, tax]) => tax > 0).map(([name, tax]) => `${percent(tax)} of a ${name}`)
  add(worst > 0, worst >= 0.5 ? 60 : worst >= 0.1 ? 40 : 20, `a tax takes ${lost.join(', ')}`)
  const unmeasured = taxes.filter(([, tax]) => tax === -1).map(([name]) => name)
  add(trade.is_honeypot === 0 && unmeasured.length > 0, 20, `the tax could not be measured: ${unmeasured.join(', ')}`)
  add(trade.is_anti_whale === 1, 20, 'a large purchase fails: purchases or wallets are capped')
  add(trade.trading_cooldown === 1, 20, 'a second trade of a wallet in the same block fails')
  return reasons
}

const POWER_REASONS: Record<Power, { points: number; text: string }> = {
  mint: { points: 30, text: 'new tokens can be minted' },
  pause: { points: 25, text: 'transfers or trading can be stopped' },
  blacklist: { points: 30, text: 'wallets can be blocked' },
  whitelist: { points: 20, text: 'wallets can be exempted from rules that others have' },
  fees: { points: 25, text: 'taxes can be changed' },
  personalFees: { points: 40, text: 'a tax can be set for a single wallet' },
  cooldown: { points: 20, text: 'a waiting time between trades can be set' },
  limits: { points: 20, text: 'limits of purchases or wallets can be changed' },
  balances: { points: 60, text: 'balances of others can be changed' },
  takeBack: { points: 40, text: 'ownership can be set by a function beside the usual ones' },
}

function contractReasons(
  { code, logic, proxy, owner }: TokenInspection,
  powers: Powers | null,
  facts: Record<string, Known>,
): Reason[] {
  const reasons: Reason[] = []
  const add = (isSo: boolean, points: number, text: string) => isSo && reasons.push({ text, points })
  add(code !== null && code.length === 0, 60, 'there is no contract at the address')
  add(proxy !== null && proxy.kind !== 'eip1167', 30, 'its code can be replaced: it is a proxy')
  add(proxy?.kind === 'eip1167', 20, 'it is a copy that runs the code of another contract')
  add(logic === null, 30, 'the code behind its proxy could not be read')
  add(facts.hidden_owner === 1, 40, 'it names no owner, but somebody can replace its code')
  if (powers === null) return reasons
  const isRenounced = owner !== null && isNobody(owner) && proxy === null
  for (const [power, functions] of powers.found) {
    const { points, text } = POWER_REASONS[power]
    // Without a visible owner a function may be out of use, or belong to somebody who is not visible.
    reasons.push({ points: isRenounced ? Math.max(20, points / 2) : points, text: `${text}: ${functions.join(', ')}` })
  }
  add(powers.unknown.length > 0, 25, `functions of unknown purpose change its state: ${powers.unknown.join(', ')}`)
  add(powers.opaque !== null, 30, `its code was not fully understood: ${powers.opaque}`)
  add(powers.destroys, 60, 'it can destroy itself')
  add(powers.delegates && proxy === null, 40, 'it runs code of other contracts as its own')
  add(powers.moves.callsOut, 20, 'transfers call other contracts')
  add(powers.moves.readsBlock, 20, 'transfers depend on time, block or gas price')
  add(powers.moves.writesVariables, 20, 'transfers change variables beside balances and allowances')
  add(owner !== null && !isNobody(owner), 5, 'it has an owner')
  return reasons
}

function uncheckedOf(facts: Record<string, number>, { pool, trials }: TokenInspection): string[] {
  const names = Object.keys(facts).filter((name) => facts[name] === -1)
  if (pool === null) return [...names, 'trades: no pool to simulate them in']
  return trials.trade === undefined ? [...names, 'trades: the node could not simulate them'] : names
}

function isNobody(address: string): boolean {
  return BURN_ADDRESSES.evm.includes(address)
}
