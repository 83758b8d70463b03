const FLAGS = [
  ...(['is_mintable', 'is_in_blacklist', 'is_lp_not_locked', 'has_mint_method', 'has_black_method'] as const),
  ...(['has_not_renounced', 'has_not_open_source', 'has_not_audited'] as const),
]
type Flag = (typeof FLAGS)[number]

export type RiskView = Record<Flag, number | null> & {
  risk_score: number | null
  /** -1 high risk, 0 unverified, 1 listed. */
  ave_risk_level: number | null
  /** 1, 0, or -1 where it was not checked. */
  is_honeypot: number
}

/** Risk facts as ingest learned them. What nobody checked is unknown: an empty report must not read as safe. */
export function readRisk(riskJson: string | null): RiskView {
  const facts = parseObject(riskJson)
  const flags = Object.fromEntries(FLAGS.map((name) => [name, numberOf(facts[name])])) as Record<Flag, number | null>
  return {
    ...flags,
    risk_score: numberOf(facts.risk_score),
    ave_risk_level: numberOf(facts.risk_level) ?? 0,
    is_honeypot: numberOf(facts.is_honeypot) ?? -1,
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

function numberOf(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
