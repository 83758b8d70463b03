/** Balances of tokens' holders. */

/**
 * A holder's balance as a block left it. It changes in place within that block only: journals, checkpoints and batches of rows hold
 * on to it.
 */
export type Balance = {
  token: string
  holder: string
  raw: bigint
  /** Chain time of the change: a retract restores it too. */
  updatedAtS: number
  /** Of the update that made it; 0: read from a checkpoint. */
  seq: number
  /** Shared by all balances of a holder while they are in memory. */
  row: HolderRow
}

/** Where the batch of rows with this number has the holder's row: found without a lookup. */
export type HolderRow = { batch: number; index: number }

export const NO_BATCH = 0
export const noRow = (): HolderRow => ({ batch: NO_BATCH, index: 0 })

/** Values by token and holder. Two levels: joining the two texts to a key costs more than a second lookup. */
export class ByHolder<Value> {
  private readonly byToken = new Map<string, Map<string, Value>>()

  get(token: string, holder: string): Value | undefined {
    return this.byToken.get(token)?.get(holder)
  }

  set(token: string, holder: string, value: Value): void {
    const known = this.byToken.get(token)
    if (known !== undefined) known.set(holder, value)
    else this.byToken.set(token, new Map([[holder, value]]))
  }

  /** Takes all values of another, which is then empty. */
  take(other: ByHolder<Value>): void {
    for (const [token, holders] of other.byToken) {
      const known = this.byToken.get(token)
      if (known === undefined) this.byToken.set(token, holders)
      else for (const [holder, value] of holders) known.set(holder, value)
    }
    other.clear()
  }

  clear(): void {
    this.byToken.clear()
  }

  /** By token, each with its holders. */
  entries(): Iterable<readonly [string, ReadonlyMap<string, Value>]> {
    return this.byToken
  }
}

const KEY_MARK = '/'

/** As checkpoints and journals name a holder. */
export const holderKey = (token: string, holder: string): string => `${token}${KEY_MARK}${holder}`

export function splitHolderKey(key: string): { token: string; holder: string } {
  const mark = key.indexOf(KEY_MARK)
  return { token: key.slice(0, mark), holder: key.slice(mark + 1) }
}

/** As checkpoints and journals write a balance. */
export const balanceText = ({ raw, updatedAtS }: Balance): string => `${raw} ${updatedAtS}`

export function parseBalance(token: string, holder: string, text: string): Balance {
  const space = text.indexOf(' ')
  return {
    token,
    holder,
    raw: BigInt(text.slice(0, space)),
    updatedAtS: Number(text.slice(space + 1)),
    seq: 0,
    row: noRow(),
  }
}
