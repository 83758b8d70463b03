/** Which part of a chain is decoded, for every chain family. */

export type Scope = {
  /** By id, on any exchange. */
  pools: ReadonlySet<string>
  /** Pools that hold one of these. */
  tokens: ReadonlySet<string>
  /** Only these exchanges; empty: all known ones. */
  amms: ReadonlySet<string>
  balances: 'off' | 'scoped' | 'all'
  /** Tokens whose holders are all to be known, whatever `balances` says. */
  holders?: ReadonlySet<string>
}

/** Whether any balance is followed. */
export const followsBalances = ({ balances, holders }: Pick<Scope, 'balances' | 'holders'>): boolean =>
  balances !== 'off' || (holders?.size ?? 0) > 0
