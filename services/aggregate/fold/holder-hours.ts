/** How many holders a token has at the end of each hour in which their number changed, by the chain's now. */
import type { FoldState } from '../state/fold-state.js'
import type { BlockJournal } from '../state/journal.js'
import { TOKEN } from '../state/tokens.js'
import { hourOf } from './pair-hours.js'

/** `holders` null: without the orphaned blocks the number did not change in that hour. */
export type HolderHour = { token: string; hourS: number; holders: number | null }

export function holderHour({ tokens }: FoldState, id: number): HolderHour {
  const { rows, address } = tokens
  const hourS = hourOf(rows.get(id, TOKEN.countedAtS))
  return { token: address[id] as string, hourS, holders: rows.get(id, TOKEN.holders) }
}

/** The hours in which orphaned blocks had changed the number: gathered before each is undone. */
export class UndoneHolderHours {
  private readonly undone = new Map<string, { token: string; hourS: number }>()

  constructor(private readonly state: FoldState) {}

  add({ nowS, publishedTokens }: BlockJournal): void {
    const { rows, address } = this.state.tokens
    const hourS = hourOf(nowS)
    for (const id of publishedTokens) {
      if (rows.get(id, TOKEN.countedAtS) !== nowS) continue
      const token = address[id] as string
      this.undone.set(`${token}|${hourS}`, { token, hourS })
    }
  }

  /** Each of these hours as the blocks that are left made it. */
  *restored(): Generator<HolderHour> {
    for (const { token, hourS } of this.undone.values()) {
      const id = this.state.tokens.find(token)
      const left = id === undefined ? undefined : holderHour(this.state, id)
      yield left?.hourS === hourS ? left : { token, hourS, holders: null }
    }
  }
}
