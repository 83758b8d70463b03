/** The API key, the client that uses it, and whether the server still answers. */
import { type Client, createClient, DextapeError, type OperationName, type Params, type Result } from '@dextape/client'
import { createValue } from './store.js'
import { texts } from './texts.js'

/** `turn`: which key since the page was opened. Views start anew with each: one may not see what another could. */
export type Session = { kind: 'closed'; wrong: string } | { kind: 'open'; client: Client; turn: number }

const STORED = 'dextape-key'
const KEY_CODES = ['key_missing', 'key_invalid', 'key_expired', 'key_datafeed_only']
/** Waits for the rate limit, but not for a monthly quota. */
const LONGEST_WAIT_MS = 5000

export const session = createValue<Session>({ kind: 'closed', wrong: '' })

/** When the socket tries again; undefined while it is open or not needed. */
export const socketRetry = createValue<{ atMs: number; why: string } | undefined>(undefined)

/** Wall clock of the last sign of life. */
export const heardAt = createValue(0)
export const hear = (): void => heardAt.set(Date.now())

let turn = 0

export function openSession(key: string): void {
  closeClient()
  localStorage.setItem(STORED, key)
  const client = createClient({
    ...{ url: location.origin, key, minBackoffMs: 500, maxBackoffMs: 8000 },
    onOpen() {
      hear()
      socketRetry.set(undefined)
    },
    onRetry: (error, delayMs) => socketRetry.set({ atMs: Date.now() + delayMs, why: reasonOf(error) }),
  })
  turn += 1
  session.set({ kind: 'open', client, turn })
}

function closeClient(): void {
  const open = session.get()
  if (open.kind === 'open') open.client.close()
  socketRetry.set(undefined)
}

export function forgetKey(): void {
  localStorage.removeItem(STORED)
  closeClient()
  session.set({ kind: 'closed', wrong: '' })
}

/** Reads the key from `#key=…` in the address, removes it there and keeps it in this browser. */
export function startSession(): void {
  const fromAddress = () => {
    const parts = location.hash.slice(1).split('&')
    const given = new URLSearchParams(parts.find((part) => part.startsWith('key='))).get('key')
    if (given === null) return undefined
    const rest = parts.filter((part) => !part.startsWith('key=')).join('&')
    history.replaceState(history.state, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
    return given
  }
  // A link with a key was opened in this tab.
  addEventListener('hashchange', () => {
    const given = fromAddress()
    if (given !== undefined) openSession(given)
  })
  const key = fromAddress() ?? localStorage.getItem(STORED) ?? ''
  if (key !== '') openSession(key)
}

/** True if the key was refused: the page asks for another. */
export function refuseKey(error: unknown): boolean {
  if (!(error instanceof DextapeError) || !KEY_CODES.includes(error.code)) return false
  // Requests that were under way fail too: the first says why.
  if (session.get().kind === 'closed') return true
  closeClient()
  // A socket that is refused says it in other words than REST.
  const wrong = error.code === 'key_invalid' ? texts.key.unknown : reasonOf(error)
  session.set({ kind: 'closed', wrong })
  return true
}

/** What happened, without the request and without advice for programmers. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof DextapeError)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'unreachable') return texts.connection.unreachable
  return error.message
    .replace(/^\S+ \S+ failed \(\d+\): /, '')
    .replace(error.action, '')
    .trim()
}

export function client(): Client {
  const open = session.get()
  if (open.kind === 'open') return open.client
  throw new DextapeError('key_missing', 'No API key.')
}

/** Calls an operation; waits and repeats where the key's rate is exceeded. */
export async function ask<Name extends OperationName>(
  name: Name,
  params: Params<Name>,
  signal?: AbortSignal,
): Promise<Result<Name>> {
  return (await repeat(signal, () => client().call(name, params, { signal }))).data
}

async function repeat<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const answer = await call()
      hear()
      return answer
    } catch (error) {
      if (signal?.aborted) throw error
      refuseKey(error)
      const waitMs = error instanceof DextapeError && error.code === 'rate_limited' ? (error.retryAfterMs ?? 1000) : 1e9
      if (waitMs > LONGEST_WAIT_MS) throw error
      // Jitter, so that waiting calls do not repeat all at once.
      await new Promise((resolve) => setTimeout(resolve, waitMs * (1 + Math.random())))
    }
  }
}
