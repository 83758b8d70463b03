/** What a check of the chain's present state asks for, in rounds: the answers of one decide what the next asks. */

export type Account = { owner: string; data: Uint8Array }

/** Accounts of a program by their bytes. */
export type AccountList = {
  programId: string
  /** Their exact size, if all have one. */
  dataBytes?: number
  /** `bytes`: base58. */
  matches: readonly { offset: number; bytes: string }[]
}

export type ListedAccount = Account & { address: string }

export type StateRound = { accounts: readonly string[]; lists: readonly AccountList[] }

export type StateAnswers = {
  /** Null: no such account. */
  account(address: string | null): Account | null
  /** By its place in the round; null: the nodes do not list accounts. */
  list(place: number): readonly ListedAccount[] | null
}

export type StateInspection<T> = Generator<StateRound, T, StateAnswers>
