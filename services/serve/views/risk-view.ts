import { plainDecimal } from './field-formats.js'

const FLAGS = [
  ...(['is_mintable', 'is_in_blacklist', 'is_lp_not_locked', 'has_mint_method', 'has_black_method'] as const),
  ...(['has_not_renounced', 'has_not_open_source', 'has_not_audited'] as const),
]
type Flag = (typeof FLAGS)[number]

/** Rates as ingest found them; null: not checked. */
export const WALLET_RATES = [
  ...(['bundle_wallet_rate', 'cluster_wallet_rate', 'insider_wallet_rate', 'phishing_wallet_rate'] as const),
  'rug_risk_rate' as const,
]
type WalletRate = (typeof WALLET_RATES)[number]

export type RiskView = Record<Flag | WalletRate, number | null> & {
  risk_score: number | null
  /** -1 high risk, 0 unverified, 1 listed. */
  risk_level: number
  ave_risk_level: number
  risk_info: string
  /** 1, 0, or -1 if not checked. */
  is_honeypot: number
}

/** Risk facts from ingest, by their names in the interface. Unchecked facts are unknown: an empty report must not look safe. */
export type RiskFacts = {
  /** 1 for yes, 0 for no; null: not checked. */
  number(name: string): number | null
  /** Empty: unknown. */
  text(name: string): string
  /** A decimal string; null: unknown. */
  decimal(name: string): string | null
  /** The objects in a list; none where it is no list. */
  objects(name: string): Record<string, unknown>[]
}

export function readRisk(riskJson: string | null): RiskView {
  return riskJson === null ? UNCHECKED : riskIn(riskJson)
}

function riskIn(riskJson: string | null): RiskView {
  const facts = readFacts(riskJson)
  const checked = Object.fromEntries([...FLAGS, ...WALLET_RATES].map((name) => [name, facts.number(name)]))
  const risk_level = facts.number('risk_level') ?? 0
  return {
    ...(checked as Record<Flag | WalletRate, number | null>),
    risk_score: facts.number('risk_score'),
    ...{ risk_level, ave_risk_level: risk_level, risk_info: facts.text('risk_info') },
    is_honeypot: facts.number('is_honeypot') ?? -1,
  }
}

/** Most tokens of a list. */
const UNCHECKED = riskIn(null)

export function readFacts(riskJson: string | null): RiskFacts {
  const facts = parseObject(riskJson)
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  const number = (name: string): number | null => numberOf(facts[name])
  return {
    number,
    text(name) {
      const value = facts[name]
      if (value === null || value === undefined) return ''
      return typeof value === 'string' ? value : JSON.stringify(value)
    },
    decimal(name) {
      const value = number(name)
      // Text keeps all its digits, which may exceed a double's precision.
      return value === null ? null : typeof facts[name] === 'string' ? facts[name] : plainDecimal(value)
    },
    objects(name) {
      const value = facts[name]
      return Array.isArray(value) ? value.filter(isObject) : []
    },
  }
}

function parseObject(json: string | null): Record<string, unknown> {
  if (json === null) return {}
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Token audits often write numbers as text. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
