/** Where the price of the last trade came from, read when it is asked for. */
import type { PricePath } from '@dextape/client'
import { useRef, useState } from 'preact/hooks'
import { ask, reasonOf } from '../app/session.js'
import { texts } from '../app/texts.js'
import { type Figure, priceUsd, shortAddress } from '../show/format.js'
import { LivePrice } from '../show/parts.js'

const KEPT_MS = 5000

export function PriceWithProvenance({ value, pairId }: { value: Figure; pairId: string }) {
  const [path, setPath] = useState<PricePath | null | undefined>(undefined)
  const [error, setError] = useState('')
  const readAtMs = useRef(0)
  const read = () => {
    if (Date.now() - readAtMs.current < KEPT_MS) return
    readAtMs.current = Date.now()
    ask('pricePath', { pair_id: pairId }).then(setPath, (failure) => setError(reasonOf(failure)))
  }
  const words = texts.market
  return (
    <span class="provenance">
      <button type="button" class="plain" aria-describedby="provenance" onMouseEnter={read} onFocus={read}>
        <LivePrice value={value} />
      </button>
      <span class="sheet" role="tooltip" id="provenance">
        <b>{words.provenance}</b>
        {error !== '' && <span>{error}</span>}
        {path?.steps.map((step) => (
          <span key={step.token_id}>
            {words.provenanceStep(shortAddress(step.token_id.replace(/-[^-]*$/, '')), step.priced_by)}{' '}
            <span class="num">{priceUsd(step.price_usd)}</span>
            {step.pools.map((pool) => (
              <span key={pool} class="mono soft">
                {' '}
                {shortAddress(pool.replace(/-[^-]*$/, ''))}
              </span>
            ))}
          </span>
        ))}
        {path !== undefined && path !== null && (
          <span class={path.agree ? 'up' : 'down'}>{path.agree ? words.provenanceAgree : words.provenanceDiffer}</span>
        )}
      </span>
    </span>
  )
}
