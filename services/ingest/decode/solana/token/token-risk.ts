/**
 * A mint's powers under the API's names. Only facts in the mint's bytes are included; what needs a judgement (whether it is a
 * honeypot, whether its pools are locked) is omitted, which means not checked.
 */
import { ByteReader } from '../wire/byte-reader.js'
import { type Metadata, orNull } from './metadata.js'
import type { Mint, MintExtensions, TransferFee } from './mint.js'

const BASIS_POINTS = 10_000

/** `epoch`: the chain's; null: unknown. */
export function riskOf(mint: Mint, metadata: Metadata | null, epoch: bigint | null): Record<string, unknown> {
  const { mintAuthority, freezeAuthority, extensions } = mint
  const { transferFee, permanentDelegate, isTransferable, pausing, transferHook } = extensions
  const isStopped = !isTransferable || pausing?.isPaused === true
  const tax = taxOf(extensions, epoch)
  return {
    is_mintable: flag(mintAuthority !== null),
    has_mint_method: flag(mintAuthority !== null),
    has_black_method: flag(freezeAuthority !== null),
    has_white_method: flag(extensions.isFrozenByDefault),
    // Paused without an authority means paused permanently.
    transfer_pausable: flag(pausing !== null && (pausing.authority !== null || pausing.isPaused)),
    owner_change_balance: flag(permanentDelegate !== null),
    external_call: flag(transferHook !== null && transferHook.program !== null),
    slippage_modifiable: flag(transferFee !== null && transferFee.authority !== null),
    ...{ cannot_buy: flag(isStopped), cannot_sell_all: flag(isStopped) },
    ...(tax === null ? {} : { buy_tax: tax, sell_tax: tax, transfer_tax: tax }),
    has_not_renounced: flag(ownerOf(mint, metadata) !== null),
    // A renounced authority cannot be set again.
    can_take_back_ownership: 0,
    risk_info: present({
      token_program: mint.program,
      mint_authority: mintAuthority,
      freeze_authority: freezeAuthority,
      update_authority: metadata?.updateAuthority,
      permanent_delegate: permanentDelegate,
      transfer_hook: transferHook?.program,
      extensions: extensions.names.length === 0 ? null : extensions.names,
    }),
  }
}

/** The strongest authority: to mint, to move anybody's tokens, to freeze, pause or tax, to rename. Null: it has none of these. */
export function ownerOf(
  { mintAuthority, freezeAuthority, extensions }: Mint,
  metadata: Metadata | null,
): string | null {
  const { permanentDelegate, pausing, transferFee, transferHook } = extensions
  const overHolders = permanentDelegate ?? freezeAuthority ?? pausing?.authority
  const overTransfers = transferFee?.authority ?? transferHook?.authority
  return mintAuthority ?? overHolders ?? overTransfers ?? metadata?.updateAuthority ?? null
}

/** Whether the current epoch decides which of two fees applies. */
export function isTaxChanging({ transferFee }: MintExtensions): boolean {
  return transferFee !== null && rateOf(transferFee.older) !== rateOf(transferFee.newer)
}

/** The share of a transfer that is withheld. Fees are capped, so the share of large amounts may be smaller. */
function taxOf(extensions: MintExtensions, epoch: bigint | null): number | null {
  const { transferFee } = extensions
  if (transferFee === null) return 0
  if (!isTaxChanging(extensions)) return rateOf(transferFee.newer)
  if (epoch === null) return null
  return rateOf(epoch >= transferFee.newer.fromEpoch ? transferFee.newer : transferFee.older)
}

function rateOf({ maximumRaw, basisPoints }: TransferFee): number {
  return maximumRaw === 0n ? 0 : basisPoints / BASIS_POINTS
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

function present(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined))
}

export const CLOCK = 'SysvarC1ock11111111111111111111111111111111'
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'

/** The clock sysvar (docs.anza.xyz, "Sysvar Cluster Data"): after the slot and the epoch's start time. */
const EPOCH_AT = 8 + 8

export function readEpoch({ owner, data }: { owner: string; data: Uint8Array }): bigint | null {
  if (owner !== SYSVAR_OWNER) return null
  return orNull(() => new ByteReader(data, EPOCH_AT).u64())
}
