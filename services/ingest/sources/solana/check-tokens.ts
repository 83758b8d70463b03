/** Reads mints and locks of tokens as they are now, as meta events that end the block. */
import type { Event, MetaEvent } from '../../../core/domain/records.js'
import type { CheckRules } from '../../decode/due-checks.js'
import { endOfBlock } from '../../decode/end-of-block.js'
import type { TokenCheck } from '../../decode/solana/block/lock-checks.js'
import { inspectLocks, type SolanaLocks } from '../../decode/solana/locks/inspect-locks.js'
import type {
  ListedAccount,
  StateAnswers,
  StateInspection,
  StateRound,
} from '../../decode/solana/locks/state-rounds.js'
import type { SlotBlock, SlotReader } from './slot-block.js'
import type { TokenFactsReader } from './token-facts.js'

export interface TokenChecker {
  rules: CheckRules
  check(
    checks: readonly TokenCheck[],
    block: Pick<SlotBlock, 'timeS'>,
    last: Event | undefined,
    signal: AbortSignal,
  ): Promise<MetaEvent[]>
  /** Mints of pool shares that were found since the last call, with the tokens of their pools. */
  takeShares(): Map<string, readonly string[]>
}

type Nodes = Pick<SlotReader, 'accounts' | 'listed'>

export function createTokenChecker(
  rules: CheckRules,
  nodes: Nodes,
  tokens: TokenFactsReader,
  tokensOf: (pool: string) => readonly string[],
): TokenChecker {
  let shares = new Map<string, readonly string[]>()
  return {
    rules,
    async check(checks, { timeS }, last, signal) {
      const found = await readRounds(
        checks.map(({ token, pool }) => inspectLocks(token, pool, timeS)),
        nodes,
        signal,
      )
      const locks = new Map<string, SolanaLocks>()
      for (const [place, { token, pool }] of checks.entries()) {
        const one = found[place] ?? null
        if (one === null) continue
        locks.set(token, one)
        if (one.sharesMint !== null && pool !== null) shares.set(one.sharesMint, tokensOf(pool))
      }
      const facts = await tokens.fresh(locks, signal)
      const place = endOfBlock(last, { tx_index: 0, log_index: 0, sub: 0, tx_hash: '' })
      return [...facts].map(
        ([token, { owner, risk, totalSupply }], sub): MetaEvent => ({
          ...{
            type: 'meta',
            ...place,
            sub: place.sub + sub,
            token,
            total_supply: totalSupply?.toString() ?? null,
            owner,
          },
          ...{ risk: JSON.stringify(risk), logo_url: null, links: null, holders_complete: null },
        }),
      )
    },
    takeShares() {
      const taken = shares
      shares = new Map()
      return taken
    },
  }
}

/** Runs all inspections at once: what a round of theirs asks for is one request for accounts, and one for each list. */
export async function readRounds<T>(
  inspections: readonly StateInspection<T>[],
  nodes: Nodes,
  signal: AbortSignal,
): Promise<T[]> {
  const done = new Map<number, T>()
  let answers: readonly StateAnswers[] = []
  for (;;) {
    const asked: { place: number; round: StateRound }[] = []
    for (const [place, inspection] of inspections.entries()) {
      if (done.has(place)) continue
      const { done: isDone, value } = inspection.next(answers[place] ?? NOTHING)
      if (isDone === true) done.set(place, value)
      else asked.push({ place, round: value })
    }
    if (asked.length === 0) return inspections.map((_, place) => done.get(place) as T)
    const addresses = [...new Set(asked.flatMap(({ round }) => round.accounts))].filter((address) => address !== '')
    const [accounts, lists] = await Promise.all([
      addresses.length === 0 ? [] : nodes.accounts(addresses, signal),
      Promise.all(asked.map(({ round }) => Promise.all(round.lists.map((list) => nodes.listed(list, signal))))),
    ])
    const byAddress = new Map(addresses.map((address, place) => [address, accounts[place] ?? null]))
    const next: StateAnswers[] = []
    for (const [index, { place }] of asked.entries()) next[place] = answersOf(byAddress, lists[index] ?? [])
    answers = next
  }
}

function answersOf(
  accounts: ReadonlyMap<string, StateAnswer | null>,
  lists: readonly (readonly ListedAccount[] | null)[],
): StateAnswers {
  return { account: (address) => accounts.get(address ?? '') ?? null, list: (place) => lists[place] ?? null }
}

type StateAnswer = { owner: string; data: Uint8Array }

const NOTHING: StateAnswers = { account: () => null, list: () => null }
