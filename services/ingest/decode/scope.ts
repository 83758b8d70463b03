/** How much of a chain is decoded, whatever its family. */

export type Scope = {
  /** By id, whatever their exchange. */
  pools: ReadonlySet<string>
  /** Pools that hold one of these. */
  tokens: ReadonlySet<string>
  /** Only these exchanges; none: all that are known. */
  amms: ReadonlySet<string>
  balances: 'off' | 'scoped' | 'all'
}
