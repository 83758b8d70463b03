/** A local Solana VM with the real token programs, so that tests read bytes written by those programs. */
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  lamports,
  pipe,
  setTransactionMessageFeePayer,
} from '@solana/kit'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import type { SlotReader, SolanaAccount } from '../../../../../services/ingest/sources/solana/slot-block.js'

/** `accounts`: `s` is a signer, `w` is writable. */
export type Call = { programId: string; accounts: readonly (readonly [account: string, role: string])[]; data: Buffer }

export type Machine = {
  payer: string
  /** Runs all calls, or throws. */
  run(...calls: Call[]): void
  rent(bytes: number): bigint
  account(address: string): SolanaAccount | null
  put(address: string, account: SolanaAccount): void
  enterEpoch(epoch: bigint): void
  accounts: SlotReader['accounts']
}

/** Signatures are not checked: an account signs if a call says so. */
export function startMachine(payer: string): Machine {
  const machine = new LiteSVM().withNativeMints().withSigverify(false).withTransactionHistory(0n)
  machine.airdrop(address(payer), lamports(10n ** 12n))
  const machineAccount = (at: string): SolanaAccount | null => {
    const found = machine.getAccount(address(at))
    if (!found.exists) return null
    return { owner: found.programAddress, lamports: found.lamports, data: Uint8Array.from(found.data) }
  }
  return {
    payer,
    run(...calls) {
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        (made) => setTransactionMessageFeePayer(address(payer), made),
        (made) => appendTransactionMessageInstructions(calls.map(instructionOf), made),
        (made) => machine.setTransactionMessageLifetimeUsingLatestBlockhash(made),
      )
      const outcome = machine.sendTransaction(compileTransaction(message))
      if (outcome instanceof FailedTransactionMetadata)
        throw new Error([String(outcome.err()), ...outcome.meta().logs()].join('\n'))
    },
    rent: (bytes) => machine.minimumBalanceForRentExemption(BigInt(bytes)),
    account: machineAccount,
    put: (at, { owner, lamports: held, data }) =>
      machine.setAccount({
        ...{ address: address(at), programAddress: address(owner), data, lamports: lamports(held) },
        ...{ executable: false, space: BigInt(data.length) },
      }),
    enterEpoch(epoch) {
      const clock = machine.getClock()
      clock.epoch = epoch
      machine.setClock(clock)
    },
    accounts: async (addresses) => addresses.map(machineAccount),
  }
}

function instructionOf({ programId, accounts, data }: Call) {
  return {
    programAddress: address(programId),
    accounts: accounts.map(([account, role]) => ({ address: address(account), role: roleOf(role) })),
    data: Uint8Array.from(data),
  }
}

function roleOf(role: string): AccountRole {
  const [signs, isWritten] = [role.includes('s'), role.includes('w')]
  if (signs) return isWritten ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER
  return isWritten ? AccountRole.WRITABLE : AccountRole.READONLY
}
