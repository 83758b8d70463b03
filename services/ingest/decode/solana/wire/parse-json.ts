/** The encodings `json` and `jsonParsed`: keys as text, instructions compiled or parsed. */
import { type IsRead, type RawInstruction, type RawTransaction, readInstruction } from './raw-transaction.js'
import { countAt, fieldsAt, isFields, keyAt, listAt, signatureAt } from './shape.js'

/** All accounts: the message's, then the looked-up ones. `jsonParsed` includes the latter in the message. */
export function jsonAccounts(message: unknown, meta: unknown): readonly string[] {
  const keys: string[] = []
  let isWhole = false
  for (const key of listAt(fieldsAt(message, 'message').accountKeys, 'message.accountKeys')) {
    if (isFields(key)) isWhole = true
    keys.push(keyAt(isFields(key) ? key.pubkey : key, 'message.accountKeys'))
  }
  if (!isWhole) addLoadedAccounts(meta, keys)
  return keys
}

export function addLoadedAccounts(meta: unknown, keys: string[]): void {
  const loaded = isFields(meta) ? meta.loadedAddresses : undefined
  if (!isFields(loaded)) return
  for (const key of listAt(loaded.writable, 'loadedAddresses.writable'))
    keys.push(keyAt(key, 'loadedAddresses.writable'))
  for (const key of listAt(loaded.readonly, 'loadedAddresses.readonly'))
    keys.push(keyAt(key, 'loadedAddresses.readonly'))
}

export function jsonSignature(transaction: unknown): string {
  const [first] = listAt(fieldsAt(transaction, 'transaction').signatures, 'signatures')
  return signatureAt(first, 'signatures[0]')
}

export function readJson(
  transaction: unknown,
  meta: unknown,
  accounts: readonly string[],
  isRead: IsRead,
): RawTransaction {
  const { message, signatures } = fieldsAt(transaction, 'transaction')
  const signers = listAt(signatures, 'signatures').length
  const instructions = listAt(fieldsAt(message, 'message').instructions, 'message.instructions')
  const top = instructions.map((each) => readInstruction(each, accounts, isRead))
  const inner = innerInstructions(meta, accounts, isRead)
  return { signature: jsonSignature(transaction), signers, accounts, top, inner }
}

export function innerInstructions(
  meta: unknown,
  accounts: readonly string[],
  isRead: IsRead,
): Map<number, readonly RawInstruction[]> {
  const inner = new Map<number, readonly RawInstruction[]>()
  for (const group of listAt(fieldsAt(meta, 'meta').innerInstructions, 'innerInstructions')) {
    const { index, instructions } = fieldsAt(group, 'innerInstructions')
    const list = listAt(instructions, 'innerInstructions.instructions')
    inner.set(
      countAt(index, 'innerInstructions.index'),
      list.map((each) => readInstruction(each, accounts, isRead)),
    )
  }
  return inner
}
