/** Mint accounts of the two token programs (docs.rs, `spl_token_interface::state::Mint`). Token-2022's may have extensions after the room of a token account. */

import { Malformed } from '../decode-errors.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import { ByteReader } from '../wire/byte-reader.js'
import { type Metadata, orNull, readOptionalKey, readTexts } from './metadata.js'

export type Mint = {
  program: string
  decimals: number
  supplyRaw: bigint
  /** Who may make more of it; null: nobody, for ever. */
  mintAuthority: string | null
  /** Who may freeze accounts of it; null: nobody, for ever. */
  freezeAuthority: string | null
  extensions: MintExtensions
}

const MINT_BYTES = 82
/** Extensions start after what a token account takes, so that the two cannot be mistaken for each other; then a byte says which it is. */
const KIND_AT = 165
const MINT_KIND = 1
/** Never a mint's: a shared signature has it. */
const MULTISIG_BYTES = 355

/** Null: no mint, or one that was never set up. */
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

/** Four bytes say whether there is one; the room is there either way. */
function readAuthority(reader: ByteReader): string | null {
  const tag = reader.u32()
  if (tag > 1) throw new Malformed(`${tag} says neither that there is an authority nor that there is none`)
  const key = reader.pubkey()
  return tag === 1 ? key : null
}

export type TransferFee = { fromEpoch: bigint; maximumRaw: bigint; basisPoints: number }

export type MintExtensions = {
  /** By their names in the program's source; of one that is not known, its number. */
  names: readonly string[]
  /** `older` until the epoch `newer` starts in. */
  transferFee: { authority: string | null; older: TransferFee; newer: TransferFee } | null
  /** May move and burn anybody's tokens. */
  permanentDelegate: string | null
  /** Accounts are opened frozen: who may hold it is somebody's choice. */
  isFrozenByDefault: boolean
  isTransferable: boolean
  pausing: { authority: string | null; isPaused: boolean } | null
  /** `program` is called with every transfer. */
  transferHook: { authority: string | null; program: string | null } | null
  /** Which account tells what it is called. */
  metadataAddress: string | null
  /** Of its own, in the mint itself. */
  metadata: Metadata | null
}

export const NO_EXTENSIONS: MintExtensions = {
  ...{ names: [], transferFee: null, permanentDelegate: null, isFrozenByDefault: false, isTransferable: true },
  ...{ pausing: null, transferHook: null, metadataAddress: null, metadata: null },
}

/** Place = number. Those of accounts stand between those of mints. */
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
    // Who may take out what was withheld, and how much that is.
    reader.skip(32 + 8)
    return { transferFee: { authority, older: readFee(reader), newer: readFee(reader) } }
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

/** From the entries' bytes. One that is there but cannot be read is `Malformed`: half a mint's powers would look like fewer. */
export function readExtensions(entries: ByteReader, mint: string): MintExtensions {
  let found = NO_EXTENSIONS
  const names: string[] = []
  while (entries.left >= HEAD_BYTES) {
    const [kind, length] = [entries.u16(), entries.u16()]
    // What follows is room nobody uses.
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
