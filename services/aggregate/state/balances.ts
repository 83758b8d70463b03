/** Balances of tokens' holders. */

/** A holder of a token, shared by all its balances that are in memory. */
export type Holding = {
  readonly token: string
  readonly holder: string
  /** The batch of rows with this number has its row at `index`: found without a lookup. */
  batch: number
  index: number
}

export const NO_BATCH = 0

export const newHolding = (token: string, holder: string): Holding => ({ token, holder, batch: NO_BATCH, index: 0 })

/**
 * A balance as a block left it. It changes in place within that block only: journals, checkpoints and batches of rows hold on to it.
 */
export type Balance = {
  of: Holding
  raw: bigint
  /** Chain time of the change: a retract restores it too. */
  updatedAtS: number
  /** Of the update that made it; 0: read from a checkpoint. */
  seq: number
}

const KEY_MARK = '/'

/** As checkpoints and journals name a holder. */
export const holderKey = (token: string, holder: string): string => `${token}${KEY_MARK}${holder}`

export function holdingOf(key: string): Holding {
  const mark = key.indexOf(KEY_MARK)
  return newHolding(key.slice(0, mark), key.slice(mark + 1))
}

/** As checkpoints and journals write a balance. */
export const balanceText = ({ raw, updatedAtS }: Balance): string => `${raw} ${updatedAtS}`

export function parseBalance(of: Holding, text: string): Balance {
  const space = text.indexOf(' ')
  return { of, raw: BigInt(text.slice(0, space)), updatedAtS: Number(text.slice(space + 1)), seq: 0 }
}
