/** How many tokens are checked, and how often. */
import type { ChainSection } from './file-schema.js'

export type CheckBudgetConfig = {
  /** A chain's budget, for each minute of its own time. */
  checksPerMinute: number
  /** A token that trades is checked again after this long. */
  recheckS: number
}

const [CHECKS_PER_MINUTE, RECHECK_S] = [20, 600]

export const checkBudgetOf = (section: ChainSection): CheckBudgetConfig => ({
  checksPerMinute: section.risk_checks_per_minute ?? CHECKS_PER_MINUTE,
  recheckS: section.risk_recheck_s ?? RECHECK_S,
})
