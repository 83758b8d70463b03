/** The last minutes' buys of smart wallets on a chain, and which of them are signals. */
import { inOrder, type Place } from '../history/event-order.js'
import { smartBuys } from './signal-rules.js'

export type SmartBuy = Place & { pair: string; id: string; token: string; wallet: string }

const DAY_S = 86_400
/** Buys that wait for the ranking of their day; the oldest are dropped. */
const MOST_WAITING = 100_000

/** The day (UTC) that a buy counts to. A ranking up to a time has that second: the day is what comes after it. */
export const smartDayOf = (timeS: number): number => Math.floor((timeS - 1) / DAY_S) * DAY_S

export class SmartBuyBook {
  private readonly wallets = new Map<number, ReadonlySet<string>>()
  private readonly byToken = new Map<string, Map<string, SmartBuy>>()
  /** By token: the buys with which enough smart wallets have bought it. */
  private readonly signals = new Map<string, Set<string>>()
  private waiting: SmartBuy[] = []

  isRanked(dayS: number): boolean {
    return this.wallets.has(dayS)
  }

  /** Who is smart on a day. */
  rank(dayS: number, wallets: readonly string[]): void {
    this.wallets.set(dayS, new Set(wallets))
    for (const known of this.wallets.keys()) if (known < dayS - DAY_S) this.wallets.delete(known)
    this.add(this.waiting.splice(0))
  }

  /** Good buys, of anybody. */
  add(buys: readonly SmartBuy[]): void {
    const tokens = new Set<string>()
    for (const buy of buys) {
      const smart = this.wallets.get(smartDayOf(buy.timeS))
      if (smart === undefined) this.waiting.push(buy)
      else if (smart.has(buy.wallet)) {
        this.ofToken(buy.token).set(keyOf(buy), buy)
        tokens.add(buy.token)
      }
    }
    if (this.waiting.length > MOST_WAITING) this.waiting = this.waiting.slice(-MOST_WAITING / 2)
    for (const token of tokens) this.find(token)
  }

  /** A reorg removed these events. */
  remove(pair: string, ids: readonly string[]): void {
    const gone = new Set(ids.map((id) => keyOf({ pair, id })))
    this.waiting = this.waiting.filter((buy) => !gone.has(keyOf(buy)))
    for (const [token, buys] of this.byToken) {
      let isChanged = false
      for (const key of gone) isChanged = buys.delete(key) || isChanged
      if (isChanged) this.find(token)
    }
  }

  isSignal(token: string, pair: string, id: string): boolean {
    return this.signals.get(token)?.has(keyOf({ pair, id })) ?? false
  }

  /** Forgets what is older. */
  forgetBefore(timeS: number): void {
    this.waiting = this.waiting.filter((buy) => buy.timeS >= timeS)
    for (const [token, buys] of this.byToken) {
      for (const [key, buy] of buys) if (buy.timeS < timeS) buys.delete(key)
      if (buys.size > 0) continue
      this.byToken.delete(token)
      this.signals.delete(token)
    }
  }

  private ofToken(token: string): Map<string, SmartBuy> {
    const known = this.byToken.get(token)
    if (known !== undefined) return known
    const fresh = new Map<string, SmartBuy>()
    this.byToken.set(token, fresh)
    return fresh
  }

  /** From all its buys: the same as a list that is read later. */
  private find(token: string): void {
    const buys = [...this.ofToken(token).values()].sort(inOrder)
    this.signals.set(token, new Set(smartBuys(buys).map(({ last }) => keyOf(last))))
  }
}

const keyOf = ({ pair, id }: Pick<SmartBuy, 'pair' | 'id'>): string => `${pair}|${id}`
