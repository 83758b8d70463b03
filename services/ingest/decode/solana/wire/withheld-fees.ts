/**
 * Token-2022 mints may withhold a part of each transfer (`TransferFeeConfig`), which a plain transfer does not tell. Balances do: where one such transfer reaches
 * an account, and the account has less after the transaction than all transfers would give it, the difference is what was withheld.
 */
import { TOKEN_2022 } from '../native-programs.js'
import type { Instruction, TokenBalance, Transfer } from '../transaction.js'

type Tokens = ReadonlyMap<string, TokenBalance>

/** Fills in the fees that can be told. Of several transfers to one account they cannot, and stay 0. */
export function fillWithheldFees(instructions: readonly Instruction[], preTokens: Tokens, postTokens: Tokens): void {
  const arrivals = new Map<string, Transfer[]>()
  collect(instructions, (transfer, programId) => {
    if (programId !== TOKEN_2022 || transfer.source === transfer.mint) return
    const others = arrivals.get(transfer.destination)
    if (others === undefined) arrivals.set(transfer.destination, [transfer])
    else others.push(transfer)
  })
  for (const [account, [only, another]] of arrivals) {
    const post = postTokens.get(account)
    if (only === undefined || another !== undefined || only.fee > 0n || post === undefined) continue
    let balance = preTokens.get(account)?.amount ?? 0n
    collect(instructions, ({ source, destination, amount }) => {
      if (destination === account) balance += amount
      if (source === account) balance -= amount
    })
    const missing = balance - post.amount
    if (missing > 0n && missing <= only.amount) only.fee = missing
  }
}

function collect(instructions: readonly Instruction[], visit: (transfer: Transfer, programId: string) => void): void {
  for (const { transfer, programId, inner } of instructions) {
    if (transfer !== null && transfer.mint !== null) visit(transfer, programId)
    collect(inner, visit)
  }
}
