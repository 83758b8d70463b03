import { useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { toggleWatched, type Watched, watched } from './watched.js'

export function Star({ of }: { of: Watched }) {
  const isWatched = useValue(watched).some(({ id }) => id === of.id)
  const label = isWatched ? texts.markets.unwatch(of.symbol) : texts.markets.watch(of.symbol)
  return (
    <button
      type="button"
      class="icon star"
      aria-pressed={isWatched}
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.preventDefault()
        event.stopPropagation()
        toggleWatched(of)
      }}
    >
      <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
        <path
          d="M8 1.8 9.9 6l4.5.4-3.4 3 1 4.4L8 11.5l-4 2.3 1-4.4-3.4-3L6.1 6z"
          fill={isWatched ? 'currentColor' : 'none'}
          stroke="currentColor"
          stroke-width="1.1"
          stroke-linejoin="round"
        />
      </svg>
    </button>
  )
}
