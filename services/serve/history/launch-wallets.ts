/** What the first buyers of tokens still have: from memory where it is kept, otherwise read for all that ask at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedChain } from '../memory/served-chain.js'
import { type LaunchRates, UNKNOWN_RATES } from './first-buyers.js'
import type { HotHistory } from './hot/hot-history.js'
import type { HotLaunch } from './hot/hot-launch.js'
import type { QueryLanes } from './query-lanes.js'
import { readLaunches } from './stored-launches.js'

export type LaunchFindings = {
  rates: LaunchRates
  /** Who provided the first liquidity of the token's first pool; empty: unknown. */
  provider: string
}

export type ListedRates = {
  of(token: string): LaunchRates
  /** False: some are missing because the store did not answer in time. */
  isComplete: boolean
}

export interface LaunchWallets {
  /** Unknown where the first liquidity of the token's first pool is not in the history. */
  of(state: ServedChain, token: string): Promise<LaunchFindings>
  /** The rates of several tokens, at once if all are kept. Unknown as well where the store does not answer in time. */
  rates(state: ServedChain, tokens: readonly string[]): ListedRates | Promise<ListedRates>
}

/** A reorg may make what was just read invalid. */
const MOST_ATTEMPTS = 3

/** Those found so far; complete once `coming` is through. */
type Looked = { found: Map<string, HotLaunch>; coming: Promise<void>[] }

export function createLaunchWallets(
  lanes: QueryLanes,
  hot: Pick<HotHistory, 'launch'>,
  mostWaitMs: number,
): LaunchWallets {
  const load = createBatches((state, tokens) => readLaunches(lanes, state, tokens))

  function look(state: ServedChain, tokens: Iterable<string>, found = new Map<string, HotLaunch>()): Looked {
    const coming: Promise<void>[] = []
    const put = (token: string) => (launch: HotLaunch | undefined) => {
      if (launch !== undefined) found.set(token, launch)
    }
    for (const token of tokens) {
      const launch = hot.launch(state, token, () => load(state, token)) ?? load(state, token)
      if (launch instanceof Promise) coming.push(launch.then(put(token)))
      else found.set(token, launch)
    }
    return { found, coming }
  }

  async function finish(state: ServedChain, tokens: readonly string[], { found, coming }: Looked): Promise<void> {
    await Promise.all(coming)
    for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt += 1) {
      const again = tokens.filter((token) => found.get(token)?.isInvalid ?? true)
      if (again.length === 0) return
      await Promise.all(look(state, again, found).coming)
    }
  }

  const ratesIn = ({ tokens }: ServedChain, { found }: Looked, token: string) =>
    found.get(token)?.rates(tokens.get(token)?.info.total_supply ?? null) ?? UNKNOWN_RATES

  return {
    async of(state, token) {
      const looked = look(state, [token])
      await finish(state, [token], looked)
      return { rates: ratesIn(state, looked, token), provider: looked.found.get(token)?.launch?.provider ?? '' }
    },
    rates(state, tokens) {
      const looked = look(state, tokens)
      const of = (token: string) => ratesIn(state, looked, token)
      if (looked.coming.length === 0) return { of, isComplete: true }
      return withinMs(finish(state, tokens, looked), mostWaitMs).then((isComplete) => ({ of, isComplete }))
    },
  }
}

/** Whether the work was done in time. */
async function withinMs(work: Promise<void>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const done = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, sleep(ms, false, { signal: timer.signal })])
  } finally {
    timer.abort()
  }
}

type Load = (state: ServedChain, token: string) => Promise<HotLaunch>
type ReadAll = (state: ServedChain, tokens: readonly string[]) => Promise<Map<string, HotLaunch>>
type Batch = { tokens: Set<string>; launches: Promise<Map<string, HotLaunch>> }

/** One reading of a chain at a time: what is asked for meanwhile is read together in the next. */
function createBatches(read: ReadAll): Load {
  const waiting = new Map<string, Batch>()
  const running = new Map<string, Promise<unknown>>()

  function open(state: ServedChain): Batch {
    const { chain } = state
    const tokens = new Set<string>()
    const before = running.get(chain) ?? Promise.resolve()
    const launches = before.then(() => {
      waiting.delete(chain)
      return read(state, [...tokens])
    })
    running.set(
      chain,
      launches.catch(() => undefined),
    )
    const batch = { tokens, launches }
    waiting.set(chain, batch)
    return batch
  }

  return async (state, token) => {
    const { tokens, launches } = waiting.get(state.chain) ?? open(state)
    tokens.add(token)
    return (await launches).get(token) as HotLaunch
  }
}
