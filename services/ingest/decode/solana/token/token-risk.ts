/**
 * A mint's powers under the API's names, from the mint's bytes and its metadata, what of it and its pool is locked, and a score of
 * them. What they cannot tell (the code of a transfer hook) is listed as not checked.
 */
import { type LockInspection, lockFacts } from '../../lock-facts.js'
import { type Reason, scoreOf } from '../../risk-score.js'
import { ByteReader } from '../wire/byte-reader.js'
import { type Metadata, orNull } from './metadata.js'
import type { Mint, MintExtensions, TransferFee } from './mint.js'

const BASIS_POINTS = 10_000

/** `epoch`: the chain's; null: unknown. `locks`: null if they were not read. */
export function riskOf(
  mint: Mint,
  metadata: Metadata | null,
  epoch: bigint | null,
  locks: LockInspection | null = null,
): Record<string, unknown> {
  const held = locks === null ? null : lockFacts(locks)
  const { mintAuthority, freezeAuthority, extensions } = mint
  const { transferFee, permanentDelegate, isTransferable, pausing, transferHook } = extensions
  const isStopped = !isTransferable || pausing?.isPaused === true
  const tax = taxOf(extensions, epoch)
  const isHoneypot = honeypotOf(mint, tax)
  // An extension that this code does not know may do anything.
  const unknown = extensions.names.filter((name) => /^\d+$/.test(name))
  const { reasons, ...score } = scoreOf(
    [...reasonsOf(mint, metadata, tax, unknown), ...(held?.reasons ?? [])],
    isHoneypot === 0 && unknown.length === 0,
  )
  return {
    is_honeypot: isHoneypot,
    ...score,
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
    ...(held === null ? {} : { is_lp_not_locked: held.isLpNotLocked, ...held.facts }),
    risk_info: present({
      token_program: mint.program,
      mint_authority: mintAuthority,
      freeze_authority: freezeAuthority,
      update_authority: metadata?.updateAuthority,
      permanent_delegate: permanentDelegate,
      transfer_hook: transferHook?.program,
      // Null: the token has no metadata.
      is_metadata_mutable: metadata === null ? null : metadata.updateAuthority !== null,
      extensions: extensions.names.length === 0 ? null : extensions.names,
      reasons,
      unchecked: [
        ...(isHoneypot === -1 ? ['is_honeypot'] : []),
        ...(tax === null ? TAXES : []),
        ...((held?.isLpNotLocked ?? -1) === -1 ? ['is_lp_not_locked'] : []),
        ...(held !== null && held.facts.lock_raw === undefined ? ['lock_amount'] : []),
      ],
    }),
  }
}

const TAXES = ['buy_tax', 'sell_tax', 'transfer_tax']
/** A tax from here on takes a sale for one that cannot be made. */
const HONEYPOT_TAX = 0.9

/** A program of the chain moves the tokens, so only these powers can stop a sale. One that may be used is unknown, not safe. */
function honeypotOf({ freezeAuthority, extensions }: Mint, tax: number | null): -1 | 0 | 1 {
  const { permanentDelegate, isFrozenByDefault, isTransferable, pausing, transferHook } = extensions
  if (!isTransferable || pausing?.isPaused === true || (tax ?? 0) >= HONEYPOT_TAX) return 1
  const hasPower = [
    freezeAuthority,
    permanentDelegate,
    pausing?.authority,
    transferHook?.program,
    transferHook?.authority,
  ]
  if (isFrozenByDefault || tax === null || hasPower.some((power) => power !== null && power !== undefined)) return -1
  return 0
}

function reasonsOf(
  { mintAuthority, freezeAuthority, extensions }: Mint,
  metadata: Metadata | null,
  tax: number | null,
  unknown: readonly string[],
): Reason[] {
  const { transferFee, permanentDelegate, isFrozenByDefault, isTransferable, pausing, transferHook } = extensions
  const reasons: Reason[] = []
  const add = (isSo: boolean, points: number, text: string) => isSo && reasons.push({ text, points })
  add(!isTransferable, 100, 'it cannot be transferred')
  add(pausing?.isPaused === true, 100, 'its transfers are paused')
  add(permanentDelegate !== null, 60, 'an account may move or burn the tokens of every holder')
  add(isFrozenByDefault, 40, 'new accounts are frozen until an authority releases them')
  add(transferHook?.program != null, 40, 'a program is called with every transfer and may refuse it')
  add(transferHook != null && transferHook.authority !== null, 20, 'the program called with transfers can be changed')
  add(mintAuthority !== null, 30, 'new tokens can be minted')
  add(freezeAuthority !== null, 30, 'accounts can be frozen')
  add(pausing != null && pausing.authority !== null, 25, 'transfers can be paused')
  add(transferFee !== null && transferFee.authority !== null, 25, 'the transfer fee can be changed')
  const percent = Math.round((tax ?? 0) * BASIS_POINTS) / 100
  add(
    tax !== null && tax > 0,
    (tax ?? 0) >= 0.5 ? 60 : (tax ?? 0) >= 0.1 ? 40 : 20,
    `a fee takes ${percent} % of a transfer`,
  )
  add(tax === null, 20, 'the transfer fee depends on an epoch that is not known')
  add(unknown.length > 0, 30, `it has extensions of unknown purpose: ${unknown.join(', ')}`)
  add(metadata !== null && metadata.updateAuthority !== null, 5, 'its name and links can be changed')
  return reasons
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
