/**
 * Which tokens are checked at a block: those that changed, those traded for the first time, and from time to time those that
 * trade. A chain has a budget of checks for each minute of its own time.
 */

/** What is known of a token's checks. */
export type KnownCheck = {
  /** Time of the block it was last checked at; null: never. */
  checkedAtS: number | null
  /** It changed, and that was not checked yet. */
  isStale: boolean
  /** The pool with most of the token, of those a check can use. */
  pool: string | null
}

/** Checks made in a minute of the chain. */
export type CheckBudget = { minute: number; used: number; repeated: number }

export interface CheckBook<Known extends KnownCheck = KnownCheck> {
  risk(token: string): Known | undefined
  putRisk(token: string, known: Known): void
  /** Of the minute of the last check. */
  riskBudget(): CheckBudget | undefined
  putRiskBudget(budget: CheckBudget): void
}

export type CheckRules = { checksPerMinute: number; recheckS: number }

const MINUTE_S = 60

/** The caller notes each as checked. Changed tokens for which no budget is left are marked, and are then first when they trade. */
export function chooseChecks<Known extends KnownCheck>(
  timeS: number,
  changed: ReadonlySet<string>,
  traded: Iterable<string>,
  book: CheckBook<Known>,
  { checksPerMinute, recheckS }: CheckRules,
): string[] {
  const due = dueTokens(timeS, changed, traded, book, recheckS)
  if (due.length === 0) return []
  const budget = openBudget(timeS, book)
  const chosen: string[] = []
  for (const { token, isRepeated } of due) {
    const isLeft = budget.used < checksPerMinute && (!isRepeated || budget.repeated * 2 < checksPerMinute)
    if (!isLeft) {
      if (changed.has(token)) markStale(token, book)
      continue
    }
    budget.used += 1
    if (isRepeated) budget.repeated += 1
    chosen.push(token)
  }
  if (chosen.length > 0) book.putRiskBudget(budget)
  return chosen
}

export function markStale<Known extends KnownCheck>(token: string, book: CheckBook<Known>): void {
  const known = book.risk(token)
  if (known !== undefined && !known.isStale) book.putRisk(token, { ...known, isStale: true })
}

/** In the order of importance: changes, first sights, then repeated checks. */
function dueTokens<Known extends KnownCheck>(
  timeS: number,
  changed: ReadonlySet<string>,
  traded: Iterable<string>,
  book: CheckBook<Known>,
  recheckS: number,
): { token: string; isRepeated: boolean }[] {
  const first: string[] = []
  const repeated: string[] = []
  for (const token of traded) {
    if (changed.has(token)) continue
    const known = book.risk(token)
    if (known === undefined || known.checkedAtS === null || known.isStale) first.push(token)
    else if (timeS - known.checkedAtS >= recheckS) repeated.push(token)
  }
  return [
    ...[...changed, ...first].map((token) => ({ token, isRepeated: false })),
    ...repeated.map((token) => ({ token, isRepeated: true })),
  ]
}

function openBudget(timeS: number, book: Pick<CheckBook, 'riskBudget'>): CheckBudget {
  const minute = Math.floor(timeS / MINUTE_S)
  const kept = book.riskBudget()
  return kept?.minute === minute ? { ...kept } : { minute, used: 0, repeated: 0 }
}
