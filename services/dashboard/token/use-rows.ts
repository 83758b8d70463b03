/** A list that grows at both ends: pages of history below, pushes above. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { oncePerFrame } from '../app/store.js'
import { addRows, markRemoved } from './trade-rows.js'

type Listed = { id: string; timeS: number; block: number; isRemoved: boolean }
type Page<Row> = { rows: Row[]; cursor: string | undefined }

const KEPT = 2000

export function useRows<Row extends Listed>(
  name: string,
  readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>,
) {
  const rows = useRef<Row[]>([])
  const cursor = useRef<string | undefined>(undefined)
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
      const page = await readPage(kind === 'older' ? cursor.current : undefined, signal)
      if (signal.aborted) return
      cursor.current = page.cursor
      // What was pushed while the page was read is newer than the page.
      const known = new Set(rows.current.map(({ id }) => id))
      rows.current = addRows(
        rows.current,
        page.rows.filter(({ id }) => !known.has(id)),
      )
      setState(page.cursor === undefined ? 'all' : 'ready')
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    }
  }
  useEffect(() => {
    rows.current = []
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
      if (rows.current.length > KEPT) rows.current = rows.current.slice(0, KEPT)
      show.current()
    },
    markRemoved(ids: readonly string[]) {
      rows.current = markRemoved(rows.current, ids)
      show.current()
    },
  }
}
