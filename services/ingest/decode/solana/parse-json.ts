/** The encodings `json` and `jsonParsed`: keys as text, instructions compiled or parsed. */
import { readInstruction } from './parse-instruction.js'
import type { RawInstruction, RawTransaction } from './raw-transaction.js'
import { countAt, fieldsAt, isFields, keyAt, listAt, signatureAt } from './shape.js'

/** Every account: those of the message, then the looked-up ones. `jsonParsed` has these among the former. */
export function jsonAccounts(message: unknown, meta: unknown): readonly string[] {
  const keys: string[] = []
  let isWhole = false
  for (const key of listAt(fieldsAt(message, 'message').accountKeys, 'message.accountKeys')) {
    if (isFields(key)) isWhole = true
    keys.push(keyAt(isFields(key) ? key.pubkey : key, 'message.accountKeys'))
  }
  if (!isWhole) keys.push(...loadedAccounts(meta))
  return keys
}

export function loadedAccounts(meta: unknown): string[] {
  const loaded = isFields(meta) ? meta.loadedAddresses : undefined
  if (!isFields(loaded)) return []
  const keys: string[] = []
  for (const key of listAt(loaded.writable, 'loadedAddresses.writable'))
    keys.push(keyAt(key, 'loadedAddresses.writable'))
  for (const key of listAt(loaded.readonly, 'loadedAddresses.readonly'))
    keys.push(keyAt(key, 'loadedAddresses.readonly'))
  return keys
}

export function jsonSignature(transaction: unknown): string {
  const [first] = listAt(fieldsAt(transaction, 'transaction').signatures, 'signatures')
  return signatureAt(first, 'signatures[0]')
}

export function readJson(transaction: unknown, meta: unknown, accounts: readonly string[]): RawTransaction {
  const { message } = fieldsAt(transaction, 'transaction')
  const path = 'message.instructions'
  const top = listAt(fieldsAt(message, 'message').instructions, path).map((each, at) =>
    readInstruction(each, accounts, `${path}[${at}]`),
  )
  return { signature: jsonSignature(transaction), accounts, top, inner: innerInstructions(meta, accounts) }
}

export function innerInstructions(meta: unknown, accounts: readonly string[]): Map<number, readonly RawInstruction[]> {
  const inner = new Map<number, readonly RawInstruction[]>()
  for (const group of listAt(fieldsAt(meta, 'meta').innerInstructions, 'innerInstructions')) {
    const { index, instructions } = fieldsAt(group, 'innerInstructions')
    const path = `innerInstructions[${index}]`
    const list = listAt(instructions, path)
    const read: RawInstruction[] = []
    for (let at = 0; at < list.length; at += 1) read.push(readInstruction(list[at], accounts, path))
    inner.set(countAt(index, 'innerInstructions.index'), read)
  }
  return inner
}
