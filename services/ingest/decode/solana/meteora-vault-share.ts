/**
 * DAMM v1 keeps its tokens in Meteora's dynamic vaults, which lend them out and which many pools share: a pool owns shares of two vaults.
 * What a share is worth no event tells, but every deposit and withdrawal shows it: so many tokens for so many shares, rounded down by the
 * vault. The more tokens moved, the closer; where it cannot be had to the millionth, the reserve is not known.
 */
import type { Call, Pair } from './vault-pool.js'
import { balanceAfter, netInto, transfersIn } from './vaults.js'

const CLOSE_ENOUGH = 1_000_000n

/** `shares`: the pool's own accounts of the vaults' shares; `vaults`: where the tokens lie. */
export function vaultReserves(call: Call, shares: Pair<string>, vaults: Pair<string>): Pair<bigint | null> {
  return [worth(call, shares[0], vaults[0]), worth(call, shares[1], vaults[1])]
}

function worth({ instruction, transaction }: Call, shareAccount: string, vault: string): bigint | null {
  const transfers = transfersIn(instruction)
  const [movedShares, movedTokens] = [size(netInto(transfers, shareAccount)), size(netInto(transfers, vault))]
  if (movedShares < CLOSE_ENOUGH || movedTokens < CLOSE_ENOUGH) return null
  const held = balanceAfter(transaction, shareAccount, instruction)
  return held === null ? null : (held * movedTokens) / movedShares
}

function size(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
