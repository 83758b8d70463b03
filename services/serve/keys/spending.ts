import { type KeyStore, monthOf } from '../../core/keys/key-store.js'
import type { Logger } from '../../core/runtime/logger.js'

/** What keys spent in the current calendar month (UTC). Kept in the key store, so a restart forgets nothing. */
export interface Spending {
  thisMonth(keyId: string): number
  add(keyId: string, cu: number): void
  /** Stores what is not stored yet. */
  save(): Promise<void>
}

/** One key's month: what is known to be spent as of when, and how much of it is not stored. */
type Account = { keyId: string; month: string; spentCu: number; unsavedCu: number; readAtMs: number }

const SAVE_EVERY_MS = 1000
/** Other nodes spend too. */
const READ_EVERY_MS = 1000

export function createSpending(
  keys: Pick<KeyStore, 'spentCu' | 'addSpentCu'>,
  nowMs: () => number,
  logger: Pick<Logger, 'warn'>,
): Spending {
  const accounts = new Map<string, Account>()
  let saving = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isWriting = false

  function accountOf(keyId: string): Account {
    const month = monthOf(nowMs())
    const known = accounts.get(keyId)
    if (known?.month === month) return refreshed(known)
    // A month that ended keeps its account until what it spent is stored.
    if (known !== undefined && known.unsavedCu > 0) accounts.set(`${known.month} ${keyId}`, known)
    const opened = { keyId, month, spentCu: keys.spentCu(keyId, month), unsavedCu: 0, readAtMs: nowMs() }
    accounts.set(keyId, opened)
    return opened
  }

  function refreshed(account: Account): Account {
    // While a write is under way nobody knows whether what is stored has it already.
    if (isWriting || nowMs() - account.readAtMs < READ_EVERY_MS) return account
    account.readAtMs = nowMs()
    account.spentCu = keys.spentCu(account.keyId, account.month) + account.unsavedCu
    return account
  }

  async function write(): Promise<void> {
    const unsaved = [...accounts.values()].filter(({ unsavedCu }) => unsavedCu > 0)
    const spent = unsaved.map(({ keyId, month, unsavedCu }) => ({ keyId, month, cu: unsavedCu }))
    if (spent.length === 0) return
    isWriting = true
    try {
      await keys.addSpentCu(spent)
      unsaved.forEach((account, index) => {
        account.unsavedCu -= spent[index]?.cu ?? 0
      })
    } catch (cause) {
      logger.warn('what keys spent could not be stored, trying again', { error: cause })
      schedule()
    } finally {
      isWriting = false
    }
  }

  function save(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    saving = saving.then(write)
    return saving
  }

  function schedule(): void {
    timer ??= setTimeout(() => void save(), SAVE_EVERY_MS).unref()
  }

  return {
    thisMonth: (keyId) => accountOf(keyId).spentCu,
    add(keyId, cu) {
      if (cu === 0) return
      const account = accountOf(keyId)
      account.spentCu += cu
      account.unsavedCu += cu
      schedule()
    },
    save,
  }
}
