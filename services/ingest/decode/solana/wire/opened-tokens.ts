/** Token accounts that a transaction opens: what they hold and whose they are, also of those it closes again. */
import { encodeBase58 } from '../keys/base58.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import type { OpenedToken } from '../transaction.js'
import { parsedOpening } from './parse-parsed.js'
import type { RawInstruction, RawTransaction } from './raw-transaction.js'

const INITIALIZE = 1
/** 2 and 3 have the owner in their data. */
const INITIALIZE_2 = 16
const INITIALIZE_3 = 18
const OWNER_END = 33

export function openedTokens({ top, inner }: Pick<RawTransaction, 'top' | 'inner'>): Map<string, OpenedToken> {
  const opened = new Map<string, OpenedToken>()
  for (const raw of top) note(raw, opened)
  for (const list of inner.values()) for (const raw of list) note(raw, opened)
  return opened
}

function note({ programId, accounts, data, parsed }: RawInstruction, opened: Map<string, OpenedToken>): void {
  if (programId !== TOKEN && programId !== TOKEN_2022) return
  if (parsed !== null) {
    const opening = parsedOpening(parsed)
    if (opening !== null) opened.set(opening.account, { mint: opening.mint, owner: opening.owner })
    return
  }
  if (typeof data === 'string') return
  const [account, mint, owner] = accounts
  const tag = data[0]
  if (account === undefined || mint === undefined) return
  if (tag === INITIALIZE && owner !== undefined) opened.set(account, { mint, owner })
  else if ((tag === INITIALIZE_2 || tag === INITIALIZE_3) && data.length >= OWNER_END)
    opened.set(account, { mint, owner: encodeBase58(data.subarray(1, OWNER_END)) })
}
