/** The base of all errors: what failed, where, expected against got, how to fix it, and whether a retry can help. */
export type ErrorPlace = { chain?: string; block?: number; position?: string; file?: string; topic?: string }

export type ErrorFacts = {
  code: string
  what: string
  /** true: the same call may succeed later (an unreachable broker, a time-out). */
  retry?: boolean
  where?: ErrorPlace
  expected?: string
  got?: string
  /** What the reader can do about it. */
  fix?: string
  cause?: unknown
}

export class DextapeError extends Error {
  readonly code: string
  readonly retry: boolean
  readonly where: ErrorPlace
  readonly fix: string | undefined

  constructor(facts: ErrorFacts) {
    super(describe(facts), facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'DextapeError'
    this.code = facts.code
    this.retry = facts.retry ?? false
    this.where = facts.where ?? {}
    this.fix = facts.fix
  }
}

/** An error in configuration or usage: exit code 78 (EX_CONFIG), one message, no stack. */
export class ConfigError extends DextapeError {
  constructor(facts: ErrorFacts) {
    super(facts)
    this.name = 'ConfigError'
  }
}

function describe({ what, where, expected, got, fix }: ErrorFacts): string {
  const place = Object.entries(where ?? {}).map(([name, value]) => `${name} ${value}`)
  const parts = [place.length > 0 ? `${what} (${place.join(', ')})` : what]
  if (expected !== undefined) parts.push(`expected ${expected}`)
  if (got !== undefined) parts.push(`got ${got}`)
  const sentence = parts.join('; ')
  return fix === undefined ? sentence : `${sentence}. ${fix}`
}
