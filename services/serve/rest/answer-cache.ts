import { createHash } from 'node:crypto'

/** An answer as it is sent. */
export type EncodedAnswer = {
  body: Buffer
  /** Strong: of these bytes. */
  etag: string
  /** By encoding, as far as clients asked for one. */
  compressed: Map<string, Promise<Buffer>>
  chains: readonly string[]
  reason: string | undefined
  /** The range it covers can no longer change. */
  isClosed: boolean
  /** Not to be kept. */
  isProvisional: boolean
  /** To be kept only as long as this is true. */
  holdsWhile: (() => boolean) | undefined
}

/** What an answer depends on; it is kept while these are the same. */
export type Revisions = {
  /** Of the newest change of any chain. */
  newest(): number
  /** Of a chain's last change; of a closed range only an epoch or a name can change. Undefined: unknown chain. */
  of(chain: string, isClosed: boolean): number | undefined
  chainCount(): number
}

type Kept = { answer: EncodedAnswer; revisions: readonly number[]; chainCount: number }
type Coming = { answer: Promise<EncodedAnswer>; newest: number }

/** Encoded answers of identical requests while nothing they depend on changes, and those being made. */
export interface AnswerCache {
  /** The kept answer of this key, or the one `make` gives. */
  answer(key: string, make: () => Promise<EncodedAnswer>): EncodedAnswer | Promise<EncodedAnswer>
  readonly bytes: number
}

/** For the key, the maps and the objects of an answer. */
const OVERHEAD_BYTES = 1_000

export function createAnswerCache(revisions: Revisions, maxBytes: number): AnswerCache {
  /** Least recently used first. */
  const kept = new Map<string, Kept>()
  const coming = new Map<string, Coming>()
  let bytes = 0

  function isValid({ answer, revisions: known, chainCount }: Kept): boolean {
    if (chainCount !== revisions.chainCount() || answer.holdsWhile?.() === false) return false
    return answer.chains.every((chain, at) => revisions.of(chain, answer.isClosed) === known[at])
  }

  function forget(key: string, { answer }: Kept): void {
    kept.delete(key)
    bytes -= sizeOf(key, answer)
  }

  function keep(key: string, answer: EncodedAnswer, madeAt: number): void {
    const size = sizeOf(key, answer)
    const known = answer.chains.map((chain) => revisions.of(chain, answer.isClosed))
    // Without chains it depends on something else; with a later revision it may mix two states.
    const isPure = known.length > 0 && known.every((revision) => revision !== undefined && revision <= madeAt)
    if (!isPure || answer.isProvisional || size > maxBytes / 8) return
    const old = kept.get(key)
    if (old !== undefined) forget(key, old)
    kept.set(key, { answer, revisions: known as number[], chainCount: revisions.chainCount() })
    bytes += size
    for (const [oldest, entry] of kept) {
      if (bytes <= maxBytes) return
      forget(oldest, entry)
    }
  }

  async function make(key: string, build: () => Promise<EncodedAnswer>, newest: number): Promise<EncodedAnswer> {
    try {
      const answer = await build()
      keep(key, answer, newest)
      return answer
    } finally {
      if (coming.get(key)?.newest === newest) coming.delete(key)
    }
  }

  return {
    answer(key, build) {
      const known = kept.get(key)
      if (known !== undefined && isValid(known)) {
        kept.delete(key)
        kept.set(key, known)
        return known.answer
      }
      const newest = revisions.newest()
      const other = coming.get(key)
      // One begun before the last update would not have it.
      if (other?.newest === newest) return other.answer
      const answer = make(key, build, newest)
      coming.set(key, { answer, newest })
      return answer
    },
    get bytes() {
      return bytes
    },
  }
}

/** An answer that is about these chains as they are now, unless said otherwise. */
export function encodeAnswer(
  body: Buffer,
  answer: Pick<EncodedAnswer, 'chains'> & Partial<EncodedAnswer>,
): EncodedAnswer {
  const { chains, reason, isClosed = false, isProvisional = false, holdsWhile } = answer
  return { body, etag: etagOf(body), compressed: new Map(), chains, reason, isClosed, isProvisional, holdsWhile }
}

function etagOf(body: Buffer): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`
}

/** Compressed forms, made later, are small beside the body. */
function sizeOf(key: string, { body }: EncodedAnswer): number {
  return 1.4 * body.length + 2 * key.length + OVERHEAD_BYTES
}
