/** Mint accounts of the two token programs (docs.rs, `spl_token_interface::state::Mint`). Token-2022 mints may have extensions after the size of a token account. */

import { Malformed } from '../decode-errors.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import { ByteReader } from '../wire/byte-reader.js'
import { type Metadata, orNull, readOptionalKey, readTexts } from './metadata.js'

export type Mint = {
  program: string
  decimals: number
  supplyRaw: bigint
  /** May mint more; null: no one, permanently. */
  mintAuthority: string | null
  /** May freeze its accounts; null: no one, permanently. */
  freezeAuthority: string | null
  extensions: MintExtensions
}

const MINT_BYTES = 82
/** Extensions start after the size of a token account, so that the two cannot be confused; then a byte gives the type. */
const KIND_AT = 165
const MINT_KIND = 1
/** The size of a multisig account, never of a mint. */
const MULTISIG_BYTES = 355

/** Null: not a mint, or not initialised. */
export function readMint(account: { owner: string; data: Uint8Array }, address: string): Mint | null {
  const { owner, data } = account
  const isExtended = owner === TOKEN_2022 && data.length > KIND_AT && data.length !== MULTISIG_BYTES
  if (data.length !== MINT_BYTES && !isExtended) return null
  if (owner !== TOKEN && owner !== TOKEN_2022) return null
  return orNull(() => {
    const reader = new ByteReader(data)
    const mintAuthority = readAuthority(reader)
    const [supplyRaw, decimals] = [reader.u64(), reader.u8()]
    if (!reader.bool()) return null
    const plain = { program: owner, decimals, supplyRaw, mintAuthority, freezeAuthority: readAuthority(reader) }
    if (!isExtended) return { ...plain, extensions: NO_EXTENSIONS }
    const rest = new ByteReader(data, KIND_AT)
    return rest.u8() === MINT_KIND ? { ...plain, extensions: readExtensions(rest, address) } : null
  })
}

/** Four bytes state whether it is set; the key's bytes are always there. */
function readAuthority(reader: ByteReader): string | null {
  const tag = reader.u32()
  if (tag > 1) throw new Malformed(`${tag} is not an authority tag (0 or 1)`)
  const key = reader.pubkey()
  return tag === 1 ? key : null
}

export type TransferFee = { fromEpoch: bigint; maximumRaw: bigint; basisPoints: number }

export type MintExtensions = {
  /** Names from the program's source; the number of an unknown one. */
  names: readonly string[]
  /** `older` applies until the epoch in which `newer` starts. `withheldRaw`: fees that are in no account any more, but in the supply. */
  transferFee: { authority: string | null; withheldRaw: bigint; older: TransferFee; newer: TransferFee } | null
  /** May move and burn anybody's tokens. */
  permanentDelegate: string | null
  /** New accounts are frozen: an authority decides who may hold it. */
  isFrozenByDefault: boolean
  isTransferable: boolean
  pausing: { authority: string | null; isPaused: boolean } | null
  /** `program` is called with every transfer. */
  transferHook: { authority: string | null; program: string | null } | null
  /** The account that holds its metadata. */
  metadataAddress: string | null
  /** Metadata in the mint itself. */
  metadata: Metadata | null
}

export const NO_EXTENSIONS: MintExtensions = {
  ...{ names: [], transferFee: null, permanentDelegate: null, isFrozenByDefault: false, isTransferable: true },
  ...{ pausing: null, transferHook: null, metadataAddress: null, metadata: null },
}

/** By number. Includes the extensions of accounts (docs.rs, `spl_token_2022_interface::extension`). */
const NAMES = [
  ...['', 'TransferFeeConfig', 'TransferFeeAmount', 'MintCloseAuthority', 'ConfidentialTransferMint'],
  ...['ConfidentialTransferAccount', 'DefaultAccountState', 'ImmutableOwner', 'MemoTransfer', 'NonTransferable'],
  ...['InterestBearingConfig', 'CpiGuard', 'PermanentDelegate', 'NonTransferableAccount', 'TransferHook'],
  ...['TransferHookAccount', 'ConfidentialTransferFeeConfig', 'ConfidentialTransferFeeAmount', 'MetadataPointer'],
  ...['TokenMetadata', 'GroupPointer', 'TokenGroup', 'GroupMemberPointer', 'TokenGroupMember', 'ConfidentialMintBurn'],
  ...['ScaledUiAmount', 'Pausable', 'PausableAccount', 'PermissionedBurn'],
]
const HEAD_BYTES = 4
const FROZEN = 2

type Read = (reader: ByteReader, mint: string) => Partial<MintExtensions>

const READERS: Readonly<Record<string, Read>> = {
  TransferFeeConfig(reader) {
    const authority = readOptionalKey(reader)
    // The withdraw authority.
    const withheldRaw = reader.skip(32).u64()
    return { transferFee: { authority, withheldRaw, older: readFee(reader), newer: readFee(reader) } }
  },
  DefaultAccountState: (reader) => ({ isFrozenByDefault: reader.u8() === FROZEN }),
  NonTransferable: () => ({ isTransferable: false }),
  PermanentDelegate: (reader) => ({ permanentDelegate: readOptionalKey(reader) }),
  TransferHook: (reader) => ({
    transferHook: { authority: readOptionalKey(reader), program: readOptionalKey(reader) },
  }),
  MetadataPointer: (reader) => ({ metadataAddress: readOptionalKey(reader.skip(32)) }),
  TokenMetadata(reader, mint) {
    const updateAuthority = readOptionalKey(reader)
    return { metadata: reader.pubkey() === mint ? { ...readTexts(reader), updateAuthority } : null }
  },
  Pausable: (reader) => ({ pausing: { authority: readOptionalKey(reader), isPaused: reader.bool() } }),
}

/** Reads entries of type, length and value. Throws `Malformed` for an unreadable one: a partial list would understate the mint's powers. */
export function readExtensions(entries: ByteReader, mint: string): MintExtensions {
  let found = NO_EXTENSIONS
  const names: string[] = []
  while (entries.left >= HEAD_BYTES) {
    const [kind, length] = [entries.u16(), entries.u16()]
    // The rest is unused space.
    if (kind === 0) break
    const value = new ByteReader(entries.raw(length))
    const name = NAMES[kind] ?? String(kind)
    if (names.includes(name)) continue
    names.push(name)
    found = { ...found, ...READERS[name]?.(value, mint) }
  }
  return { ...found, names }
}

function readFee(reader: ByteReader): TransferFee {
  return { fromEpoch: reader.u64(), maximumRaw: reader.u64(), basisPoints: reader.u16() }
}
