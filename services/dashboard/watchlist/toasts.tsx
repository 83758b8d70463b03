/** What alerts reported just now, in every view. */
import { useEffect, useState } from 'preact/hooks'
import { useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { fired } from './alerts.js'

const SHOWN_MS = 12_000
const MOST = 3
const KEPT_CLOSED = 50

export function Toasts() {
  const happened = useValue(fired)
  const [closed, setClosed] = useState<readonly string[]>([])
  const [, tick] = useState(0)
  const shown = happened.filter(({ id, atMs }) => Date.now() - atMs < SHOWN_MS && !closed.includes(id)).slice(0, MOST)
  useEffect(() => {
    if (shown.length === 0) return undefined
    const timer = setTimeout(() => tick((count) => count + 1), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [happened])
  return (
    <div class="toasts" role="log" aria-label={texts.watchlist.alerts}>
      {shown.map(({ id, text, href }) => (
        <p key={id}>
          <a href={href}>{text}</a>
          <button
            type="button"
            class="icon"
            aria-label={texts.watchlist.dismiss}
            onClick={() => setClosed([...closed, id].slice(-KEPT_CLOSED))}
          >
            ×
          </button>
        </p>
      ))}
    </div>
  )
}
