/**
 * Instructions of native programs, compiled and as in `jsonParsed`. Tags and accounts as in spl-token's `TokenInstruction`, the system
 * program's `SystemInstruction` and the associated-token-account program; names as in agave's `transaction-status`. Only those in
 * recorded and generated transactions.
 */
import { decodeBase58, encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { SYSTEM, TOKEN, TOKEN_2022 } from '../../../../services/ingest/decode/solana/native-programs.js'

const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

type FieldKind = 'u64' | 'u64 text' | 'key' | 'token amount'

type Layout = {
  program: string
  programIds: readonly string[]
  type: string
  tag: readonly number[]
  accounts: readonly string[]
  fields?: readonly (readonly [name: string, kind: FieldKind])[]
  /** The name for its tag. */
  also?: Record<string, unknown>
}

type Info = Record<string, unknown>
export type ParsedForm = { program: string; parsed: string | { type: string; info: Info } }
/** Accounts by key. */
export type CompiledForm = { accounts: string[]; data: Uint8Array }

const token = (
  type: string,
  tag: readonly number[],
  accounts: readonly string[],
  rest: Partial<Layout> = {},
): Layout => ({
  ...{ program: 'spl-token', programIds: [TOKEN, TOKEN_2022], type, tag, accounts },
  ...rest,
})
const system = (type: string, tag: number, accounts: readonly string[], fields: Layout['fields']): Layout => ({
  ...{ program: 'system', programIds: [SYSTEM], type, tag: [tag, 0, 0, 0], accounts },
  ...(fields === undefined ? {} : { fields }),
})

const LAYOUTS: readonly Layout[] = [
  token('transfer', [3], ['source', 'destination', 'authority'], { fields: [['amount', 'u64 text']] }),
  token('transferChecked', [12], ['source', 'mint', 'destination', 'authority'], {
    fields: [['tokenAmount', 'token amount']],
  }),
  token('mintTo', [7], ['mint', 'account', 'mintAuthority'], { fields: [['amount', 'u64 text']] }),
  token('burn', [8], ['account', 'mint', 'authority'], { fields: [['amount', 'u64 text']] }),
  token('closeAccount', [9], ['account', 'destination', 'owner']),
  token('syncNative', [17], ['account']),
  token('initializeAccount3', [18], ['account', 'mint'], { fields: [['owner', 'key']] }),
  token('initializeImmutableOwner', [22], ['account']),
  token('getAccountDataSize', [21, 7, 0], ['mint'], { also: { extensionTypes: ['immutableOwner'] } }),
  system('transfer', 2, ['source', 'destination'], [['lamports', 'u64']]),
  system(
    'createAccount',
    0,
    ['source', 'newAccount'],
    [
      ['lamports', 'u64'],
      ['space', 'u64'],
      ['owner', 'key'],
    ],
  ),
  {
    ...{ program: 'spl-associated-token-account', programIds: [ASSOCIATED_TOKEN], type: 'createIdempotent', tag: [1] },
    accounts: ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'],
  },
]

export function compiledFrom(programId: string, parsed: ParsedForm['parsed']): CompiledForm {
  if (typeof parsed === 'string') return { accounts: [], data: Buffer.from(parsed) }
  const { type, info } = parsed
  const layout = LAYOUTS.find((each) => each.programIds.includes(programId) && each.type === type)
  if (layout === undefined) throw new Error(`no layout of ${type} of ${programId}`)
  const fields = (layout.fields ?? []).map(([name, kind]) => bytesOf(kind, info[name]))
  return {
    accounts: layout.accounts.map((name) => String(info[name])),
    data: Buffer.concat([Uint8Array.from(layout.tag), ...fields]),
  }
}

/** Null: it is not parsed. */
export function parsedFrom(programId: string, accounts: readonly string[], data: Uint8Array): ParsedForm | null {
  if (programId === MEMO) return { program: 'spl-memo', parsed: Buffer.from(data).toString() }
  for (const layout of LAYOUTS) {
    const { program, programIds, tag, type, also = {}, fields = [] } = layout
    const length = tag.length + fields.reduce((sum, [, kind]) => sum + LENGTHS[kind], 0)
    const isIt = programIds.includes(programId) && data.length === length && accounts.length === layout.accounts.length
    if (!isIt || !tag.every((byte, at) => data[at] === byte)) continue
    const info: Info = { ...also }
    for (const [at, name] of layout.accounts.entries()) info[name] = accounts[at]
    let at = tag.length
    for (const [name, kind] of fields) {
      info[name] = fieldOf(kind, data.subarray(at, at + LENGTHS[kind]))
      at += LENGTHS[kind]
    }
    return { program, parsed: { type, info } }
  }
  return null
}

const LENGTHS: Record<FieldKind, number> = { u64: 8, 'u64 text': 8, key: 32, 'token amount': 9 }

function bytesOf(kind: FieldKind, value: unknown): Uint8Array {
  if (kind === 'key') return decodeBase58(String(value))
  const { amount, decimals } = value as { amount: string; decimals: number }
  const bytes = Buffer.alloc(LENGTHS[kind])
  bytes.writeBigUInt64LE(BigInt(kind === 'token amount' ? amount : String(value)))
  if (kind === 'token amount') bytes.writeUInt8(decimals, 8)
  return bytes
}

function fieldOf(kind: FieldKind, bytes: Uint8Array): unknown {
  if (kind === 'key') return encodeBase58(bytes)
  const amount = Buffer.from(bytes).readBigUInt64LE()
  if (kind === 'u64') return Number(amount)
  if (kind === 'u64 text') return amount.toString()
  const decimals = bytes[8] ?? 0
  const uiAmount = Number(amount) / 10 ** decimals
  return { amount: amount.toString(), decimals, uiAmount, uiAmountString: uiAmountString(amount, decimals) }
}

/** Exact, without trailing zeros. */
function uiAmountString(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)]
  const kept = fraction.replace(/0+$/, '')
  return kept === '' ? whole : `${whole}.${kept}`
}
