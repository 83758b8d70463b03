/**
 * Finds tokens by a keyword in their symbol, name or address, in stages of ever weaker matches. A token has a slot, and another one after
 * each change of its texts, so that what was once written about a slot stays true.
 */
import { dayVolumeUsd } from '../../core/domain/packed-windows.js'
import type { TokenInfo } from '../../core/domain/records.js'
import { keywordBuckets, tokenBuckets } from './name-buckets.js'
import { createPostingLists } from './posting-lists.js'
import { NO_SLOT, type TokenState } from './token-state.js'

/** Slots among which are all tokens that match a keyword in this way or a weaker one; the weaker ones may be missing. */
export type SearchStage = { match: 'whole' | 'start' | 'part'; slots: () => readonly number[] }

export interface NameIndex {
  /** Takes a token's new state, and sets its slot. */
  put(token: TokenState, known: TokenState | undefined): void
  drop(token: TokenState): void
  /** Strongest matches first. */
  search(keyword: string): readonly SearchStage[]
  /** Undefined: the token is gone, or has another slot since. */
  tokenAt(slot: number): TokenState | undefined
  /** Its USD volume of 24 hours, without reading the token. */
  volumeAt(slot: number): number
  /** Of its tables. */
  readonly bytes: number
}

const FIRST_SLOTS = 1_024
const POINTER_BYTES = 8
/** For a volume: most states are replaced before a search asks for it. */
const UNREAD = -1

export function createNameIndex(): NameIndex {
  const slots: (TokenState | undefined)[] = []
  const postings = createPostingLists()
  let volumes = new Float64Array(FIRST_SLOTS)

  function takeSlot({ token, info }: TokenState): number {
    postings.add(tokenBuckets(token, info.symbol ?? '', info.name ?? ''))
    if (slots.length === volumes.length) {
      const larger = new Float64Array(2 * volumes.length)
      larger.set(volumes)
      volumes = larger
    }
    return slots.length
  }

  function clear(token: TokenState): void {
    if (token.slot !== NO_SLOT) slots[token.slot] = undefined
  }

  return {
    put(token, known) {
      if (known === undefined || known.slot === NO_SLOT || hasOtherTexts(known.info, token.info)) {
        if (known !== undefined) clear(known)
        token.slot = takeSlot(token)
      } else token.slot = known.slot
      slots[token.slot] = token
      volumes[token.slot] = UNREAD
    },
    drop: clear,
    search(keyword) {
      const { whole, start, part } = keywordBuckets(keyword)
      const stages: SearchStage[] = [
        { match: 'whole', slots: () => postings.inAll(whole) },
        { match: 'start', slots: () => postings.inAll(start) },
      ]
      return part.length === 0 ? stages : [...stages, { match: 'part', slots: () => postings.inAll(part) }]
    },
    tokenAt: (slot) => slots[slot],
    volumeAt(slot) {
      const known = volumes[slot] as number
      if (known !== UNREAD) return known
      const token = slots[slot]
      volumes[slot] = token === undefined ? 0 : dayVolumeUsd(token.windows)
      return volumes[slot] as number
    },
    get bytes() {
      return postings.bytes + volumes.byteLength + slots.length * POINTER_BYTES
    },
  }
}

function hasOtherTexts(a: TokenInfo, b: TokenInfo): boolean {
  return a !== b && (a.symbol !== b.symbol || a.name !== b.name)
}
