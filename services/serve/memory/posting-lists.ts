/** Which of the numbers 0, 1, 2 … are in which buckets. Two bytes for each bucket of a number, once it is in a full part. */
import { BUCKETS } from './name-buckets.js'

/** Numbers of the part that is being filled. */
export const OPEN_SIZE = 8_192
/** So many of these make a part whose numbers still take two bytes. A search has fewer parts to look into. */
const MERGED = 8
/** More of the wanted buckets hardly rule out more. */
const MOST_BUCKETS = 4

export interface PostingLists {
  /** Adds the next number. */
  add(buckets: Iterable<number>): void
  /** The numbers that are in all of the buckets, ascending, and sometimes others. */
  inAll(buckets: readonly number[]): readonly number[]
  readonly bytes: number
}

/** The numbers of a bucket, from `first`, are `numbers` from `starts[bucket]` up to the next start, ascending. */
type Part = { first: number; starts: Uint32Array; numbers: Uint16Array }

export function createPostingLists(): PostingLists {
  const parts: Part[] = []
  /** How many of the last parts are not merged. */
  let small = 0
  /** The part that is being filled, by bucket. */
  let open: (number[] | undefined)[] = []
  let openFirst = 0
  let openSize = 0

  function closeOpen(): void {
    const lists = open
    parts.push(
      partOf(
        openFirst,
        (bucket) => lists[bucket]?.length ?? 0,
        (bucket, at, numbers) => numbers.set(lists[bucket] ?? [], at),
      ),
    )
    open = []
    openFirst += openSize
    openSize = 0
    small += 1
    if (small < MERGED) return
    parts.push(merge(parts.splice(-MERGED)))
    small = 0
  }

  return {
    add(buckets) {
      for (const bucket of buckets) {
        const list = open[bucket]
        if (list === undefined) open[bucket] = [openSize]
        else list.push(openSize)
      }
      openSize += 1
      if (openSize === OPEN_SIZE) closeOpen()
    },
    inAll(buckets) {
      const found: number[] = []
      for (const part of parts) findInPart(part, buckets, found)
      findInOpen(
        buckets.map((bucket) => open[bucket] ?? []),
        openFirst,
        found,
      )
      return found
    },
    get bytes() {
      return parts.reduce((sum, { starts, numbers }) => sum + starts.byteLength + numbers.byteLength, 0)
    },
  }
}

function partOf(
  first: number,
  sizeOf: (bucket: number) => number,
  copyTo: (bucket: number, at: number, numbers: Uint16Array) => void,
): Part {
  const starts = new Uint32Array(BUCKETS + 1)
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) starts[bucket + 1] = (starts[bucket] as number) + sizeOf(bucket)
  const numbers = new Uint16Array(starts[BUCKETS] as number)
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) copyTo(bucket, starts[bucket] as number, numbers)
  return { first, starts, numbers }
}

function merge(parts: readonly Part[]): Part {
  const first = parts[0]?.first ?? 0
  const sizeOf = (bucket: number) => parts.reduce((sum, part) => sum + sizeIn(part, bucket), 0)
  return partOf(first, sizeOf, (bucket, start, numbers) => {
    let to = start
    for (const part of parts) {
      const end = part.starts[bucket + 1] as number
      for (let at = part.starts[bucket] as number; at < end; at += 1) {
        numbers[to] = part.first - first + (part.numbers[at] as number)
        to += 1
      }
    }
  })
}

const sizeIn = ({ starts }: Part, bucket: number): number => (starts[bucket + 1] as number) - (starts[bucket] as number)

/** Lists are read where they are: a view of each would take longer than most lists. */
function findInPart(part: Part, buckets: readonly number[], found: number[]): void {
  const [rarest, ...others] = [...buckets].sort((a, b) => sizeIn(part, a) - sizeIn(part, b)).slice(0, MOST_BUCKETS)
  if (rarest === undefined || sizeIn(part, rarest) === 0) return
  const { first, starts, numbers } = part
  const places = others.map((bucket) => starts[bucket] as number)
  const ends = others.map((bucket) => starts[bucket + 1] as number)
  const end = starts[rarest + 1] as number
  candidates: for (let at = starts[rarest] as number; at < end; at += 1) {
    const number = numbers[at] as number
    for (let list = 0; list < others.length; list += 1) {
      const place = placeFrom(numbers, places[list] as number, ends[list] as number, number)
      places[list] = place
      if (place === ends[list] || numbers[place] !== number) continue candidates
    }
    found.push(first + number)
  }
}

/** The first place from `from` whose number is not below, by steps that double: most of a long list is skipped. */
function placeFrom(numbers: Uint16Array, from: number, end: number, number: number): number {
  let step = 1
  let low = from
  while (low + step < end && (numbers[low + step] as number) < number) {
    low += step
    step *= 2
  }
  let high = Math.min(end, low + step)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}

function findInOpen(lists: readonly (readonly number[])[], first: number, found: number[]): void {
  const [rarest = [], ...others] = [...lists].sort((a, b) => a.length - b.length)
  if (rarest.length === 0) return
  // What is not among the rarest two is compared anyway, and this part is small.
  const second = others[0] === undefined ? undefined : new Set(others[0])
  for (const number of rarest) if (second?.has(number) ?? true) found.push(first + number)
}
