/** The money tokens a chain is folded with once it was switched to a replay, where the configuration does not have them yet. */
import { createReplays, type Replay, type ReplayedMoney, type Replays } from '../../core/coordination/replays.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { isSameMoney, moneyOf, withMoney } from '../../core/domain/money.js'
import type { EventLog } from '../../core/log/port.js'

type KnownMoney = Pick<Replays, 'moneyOf'>

/** With the money of the live replay, if the configuration still has what it replaced: a restart must not bring that back. */
export function factsWithReplay(facts: ChainFacts, replays: KnownMoney): ChainFacts {
  const live = replays.moneyOf(facts.chain)
  const isReplaced = live?.replaced.some((money) => isSameMoney(money, facts)) === true
  return isReplaced ? withMoney(facts, live.money) : facts
}

/** For a command that does not follow the replays. */
export async function foldedFacts(log: EventLog, facts: ChainFacts): Promise<ChainFacts> {
  const replays = createReplays(log)
  try {
    await replays.load()
    return factsWithReplay(facts, replays)
  } finally {
    await replays.close()
  }
}

/** What is recorded when a chain is switched to a replay. */
export function moneyAfter(facts: ChainFacts, replays: KnownMoney, { money }: Replay): ReplayedMoney {
  const inUse = moneyOf(factsWithReplay(facts, replays))
  const replaced = [...(replays.moneyOf(facts.chain)?.replaced ?? []), inUse]
  return { money, replaced: replaced.filter((one) => !isSameMoney(one, money)) }
}
