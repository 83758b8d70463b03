/** One score of a token's risk from what was found, with the reasons in words. The scale: below 20 safe, above 55 high. */

export type Reason = { text: string; points: number }

export type Score = {
  risk_score: number
  /** -1 high risk, 0 unverified. Nothing is listed by us, so never 1. */
  risk_level: -1 | 0
  reasons: string[]
}

const MOST = 100
export const HIGH_ABOVE = 55
/** The lowest score that is not "safe". */
export const NOT_SAFE = 20

/** `isProven`: whether everything that makes a token safe was checked; if not, the score is never that of a safe token. */
export function scoreOf(reasons: readonly Reason[], isProven: boolean): Score {
  const sum = reasons.reduce((total, { points }) => total + points, 0)
  const risk_score = Math.min(MOST, Math.max(Math.round(sum), isProven ? 0 : NOT_SAFE))
  const worst = [...reasons].sort((a, b) => b.points - a.points)
  return { risk_score, risk_level: risk_score > HIGH_ABOVE ? -1 : 0, reasons: worst.map(({ text }) => text) }
}
