/**
 * DAMM v1 keeps its tokens in Meteora's dynamic vaults, which lend them out and which many pools share: a pool owns shares of two vaults. What a share is
 * worth neither an event nor a balance tells, and deposits and withdrawals, rounded by the vault, only come near it. So a pool's reserve is known where it
 * has no shares left, and nowhere else.
 */
import type { Call, Pair } from '../../instruction/vault-pool.js'
import { balanceAfter } from '../../instruction/vaults.js'

/** `shares`: the pool's own accounts of the vaults' shares. */
export function vaultReserves(call: Call, shares: Pair<string>): Pair<bigint | null> {
  return [worth(call, shares[0]), worth(call, shares[1])]
}

function worth({ instruction, transaction }: Call, shareAccount: string): bigint | null {
  return balanceAfter(transaction, shareAccount, instruction) === 0n ? 0n : null
}
