/** Asks the server how it is, every second, and notices within two when it is silent. */
import { client, hear, heardAt, session } from './session.js'
import { createValue } from './store.js'

export type Reorg = { at_block: number; to_block: number; depth: number; time: number }
export type ChainStatus = {
  chain: string
  source: string
  head: number
  time: number
  lag_s: number
  source_age_s: number | null
  indexed_from: number | null
  finalized: number
  last_reorg: Reorg | null
  dead_letters: number
  epoch: number
  seq: number
  gaps: number
  stopped: string | null
}
export type Status = {
  version: string
  simulated: boolean
  push: { server: string; fallback_reason: string | null } | null
  threads?: { thread: string; restarts: number; running: boolean; last_end: string | null }[]
  away: { part: string; where: string; since: number; reason: string }[]
  budgets: {
    capacity: Record<string, number>
    in_use: Partial<Record<'keys' | 'sockets' | 'subscriptions' | 'ids' | 'unread_mb' | 'memory_mb', number>>
  }
  chains: ChainStatus[]
  dead_letters_without_chain: number
}

const POLL_MS = 1000
/** Silence after which what is shown counts as old. */
const SILENT_MS = 1900
const CHECK_MS = 100
const ANSWER_MS = 5000
const MAX_WAIT_MS = 8000

export const status = createValue<(Status & { readAtMs: number }) | undefined>(undefined)
/** Undefined while the server answers. */
export const silence = createValue<{ sinceMs: number; retryAtMs: number } | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined
let failures = 0
let nextAtMs = 0
let asking: AbortController | undefined

async function look(): Promise<void> {
  clearTimeout(timer)
  asking?.abort()
  const mine = new AbortController()
  asking = mine
  nextAtMs = Date.now() + ANSWER_MS
  const late = setTimeout(() => mine.abort(), ANSWER_MS)
  try {
    const response = await fetch('/status', { signal: mine.signal })
    if (!response.ok) throw new Error(`GET /status answered ${response.status}`)
    const answer = (await response.json()) as Status
    failures = 0
    hear()
    status.set({ ...answer, readAtMs: Date.now() })
  } catch {
    if (asking !== mine) return
    failures += 1
  } finally {
    clearTimeout(late)
  }
  const waitMs = failures === 0 ? POLL_MS : Math.min(MAX_WAIT_MS, POLL_MS * 2 ** (failures - 1))
  nextAtMs = Date.now() + waitMs
  timer = setTimeout(look, waitMs)
}

export function retryNow(): void {
  void look()
  if (session.get().kind === 'open') client().retryNow()
}

export function watchStatus(): void {
  hear()
  void look()
  setInterval(() => {
    // Timers of a hidden page run late: its silence says nothing about the server.
    if (document.hidden) return
    const isSilent = Date.now() - heardAt.get() > SILENT_MS
    const known = silence.get()
    if (!isSilent) silence.set(undefined)
    else if (known?.retryAtMs !== nextAtMs) silence.set({ sinceMs: heardAt.get(), retryAtMs: nextAtMs })
  }, CHECK_MS)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    hear()
    void look()
  })
}

/** How far a chain is behind now, in seconds, by the server's clock; it grows while nothing is heard. */
export function lagOf({ lag_s }: Pick<ChainStatus, 'lag_s'>): number {
  const readAtMs = status.get()?.readAtMs ?? Date.now()
  return lag_s + Math.max(0, Math.floor((Date.now() - readAtMs) / 1000))
}
