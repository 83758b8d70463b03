/** Events of a new token: its facts and its contract's risks. */

import type { Token } from './market-state.js'
import type { Stage } from './stage.js'
import { linksOf } from './token-names.js'

export function describeToken({ writer }: Stage, token: Token): void {
  writer.events.push({
    type: 'token',
    ...writer.place(),
    token: token.address,
    name: token.name,
    symbol: token.symbol,
    decimals: token.decimals,
    total_supply: token.supply.toString(),
  })
}

export type Look = {
  creator: string
  /** The contract's owner; null: renounced. */
  owner: string | null
  /** 0 harmless to 100. */
  riskScore: number
  burned?: bigint
  platform?: string
}

const HIGH_RISK = 55
const LISTED = 20

/** Risk facts under the names of GET /v2/contracts, and the flags of a token's lists. */
export function describeRisk({ writer, random }: Stage, token: Token, look: Look): void {
  const { riskScore, creator, owner } = look
  const risky = (threshold: number): number => (riskScore > threshold && random.chance(0.7) ? 1 : 0)
  const mintable = risky(50)
  const blacklist = risky(65)
  const tax = riskScore > 60 ? random.int(1, 9) / 100 : 0
  const closed = risky(75)
  const risk = {
    creator_address: creator,
    ...{ has_code: 1, is_proxy: risky(70), is_open_source: 1 - closed, has_not_open_source: closed },
    ...{ has_mint_method: mintable, is_mintable: mintable, has_black_method: blacklist, is_in_blacklist: 0 },
    ...{ has_white_method: 0, transfer_pausable: risky(70), hidden_owner: risky(80), can_take_back_ownership: 0 },
    ...{ owner_change_balance: 0, selfdestruct: 0, external_call: 0, is_anti_whale: risky(40), trading_cooldown: 0 },
    ...{ slippage_modifiable: risky(72), cannot_buy: 0, cannot_sell_all: 0, is_honeypot: riskScore > 92 ? 1 : 0 },
    ...{ buy_tax: tax, sell_tax: tax, transfer_tax: 0, has_not_renounced: owner === null ? 0 : 1 },
    ...{ has_not_audited: riskScore < LISTED ? 0 : 1, is_lp_not_locked: risky(45), is_in_dex: 1 },
    ...{ burn_amount: (look.burned ?? 0n).toString(), risk_score: riskScore },
    risk_level: riskScore > HIGH_RISK ? -1 : riskScore < LISTED ? 1 : 0,
    issue_platform: look.platform ?? '',
  }
  writer.events.push({
    type: 'meta',
    ...writer.place(),
    token: token.address,
    total_supply: null,
    owner,
    risk: JSON.stringify(risk),
    logo_url: null,
    links: linksOf(token),
  })
}
