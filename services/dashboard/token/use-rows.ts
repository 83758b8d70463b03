/** A list that grows at both ends: pages of history below, pushes above. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { oncePerFrame } from '../app/store.js'
import { addRows, markRemoved } from './trade-rows.js'

type Listed = { id: string; timeS: number; block: number; isRemoved: boolean }
/** Where the next page starts: a cursor, or the time of the last row that is kept. */
export type From = { cursor: string } | { to_time: number }
type Page<Row> = { rows: Row[]; cursor: string | undefined }

/** More are kept only where a visitor has read back to them. */
const KEPT = 300

export function useRows<Row extends Listed>(
  name: string,
  readPage: (from: From | undefined, signal: AbortSignal) => Promise<Page<Row>>,
) {
  const rows = useRef<Row[]>([])
  const next = useRef<From | undefined>(undefined)
  const most = useRef(KEPT)
  const ending = useRef(new AbortController())
  const [state, setState] = useState<'loading' | 'ready' | 'older' | 'all'>('loading')
  const [error, setError] = useState<unknown>(undefined)
  const [, redraw] = useState(0)
  const show = useRef(oncePerFrame(() => redraw((count) => count + 1)))

  async function read(kind: 'loading' | 'older'): Promise<void> {
    const { signal } = ending.current
    setState(kind)
    setError(undefined)
    try {
      const page = await readPage(kind === 'older' ? next.current : undefined, signal)
      if (signal.aborted) return
      // A list that has read back keeps its place: the first page, read again, adds only what is new.
      const isBehind = kind === 'loading' && rows.current.length > page.rows.length
      if (!isBehind) next.current = page.cursor === undefined ? undefined : { cursor: page.cursor }
      // What was pushed while the page was read is newer than the page.
      const known = new Set(rows.current.map(({ id }) => id))
      rows.current = addRows(
        rows.current,
        page.rows.filter(({ id }) => !known.has(id)),
      )
      if (kind === 'older') most.current = Math.max(KEPT, rows.current.length + KEPT)
      setState(next.current === undefined ? 'all' : 'ready')
    } catch (failure) {
      if (signal.aborted) return
      setError(failure)
      setState('ready')
    }
  }
  useEffect(() => {
    rows.current = []
    next.current = undefined
    most.current = KEPT
    ending.current = new AbortController()
    const mine = ending.current
    void read('loading')
    return () => mine.abort()
  }, [name])

  return {
    ...{ rows: rows.current, state, error },
    readOlder: () => void read('older'),
    reload: () => void read('loading'),
    add(added: readonly Row[]) {
      rows.current = addRows(rows.current, added)
      if (rows.current.length > most.current) {
        rows.current = rows.current.slice(0, most.current)
        // The next page continues at what is kept, not where the last one ended.
        next.current = { to_time: rows.current.at(-1)?.timeS ?? 0 }
        setState('ready')
      }
      show.current()
    },
    markRemoved(ids: readonly string[]) {
      rows.current = markRemoved(rows.current, ids)
      show.current()
    },
  }
}
