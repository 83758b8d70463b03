import { type KeyStore, monthOf } from '../../core/keys/key-store.js'
import type { Logger } from '../../core/runtime/logger.js'

/** Credit units spent per key in the current calendar month (UTC). Persisted in the key store. */
export interface Spending {
  thisMonth(keyId: string): number
  add(keyId: string, cu: number): void
  /** Persists unsaved spending. */
  save(): Promise<void>
}

/** One key's month: the known total, when it was read, and the part not saved yet. */
type Account = { keyId: string; month: string; spentCu: number; unsavedCu: number; readAtMs: number }

const SAVE_EVERY_MS = 1000
/** Other nodes spend from the same quota. */
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
    // A past month keeps its account until its spending is saved.
    if (known !== undefined && known.unsavedCu > 0) accounts.set(`${known.month} ${keyId}`, known)
    const opened = { keyId, month, spentCu: keys.spentCu(keyId, month), unsavedCu: 0, readAtMs: nowMs() }
    accounts.set(keyId, opened)
    return opened
  }

  function refreshed(account: Account): Account {
    // During a write the stored total may or may not include it.
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
      logger.warn('cannot save spent credit units, retrying', { error: cause })
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
