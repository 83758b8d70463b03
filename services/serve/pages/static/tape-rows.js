/** The rows of the tape: newest first, drawn at most once per frame. */
import { element } from './elements.js'
import { duration, price, short, shortAddress, toNumber, usd } from './format.js'

const MOST_ROWS = 120
const LARGE_USD = 10_000
const RATE_WINDOW_MS = 10_000

/**
 * @param {{ body: HTMLElement, empty: HTMLElement, rate: HTMLElement, nowS: (chain: string) => number, onPick: (pairId: string) => void }} page
 */
export function createTapeRows({ body, empty, rate, nowS, onPick }) {
  /** Newest first, as in the table. */
  let rows = []
  let waiting = []
  let paused = false
  let only
  let drawing = false
  let arrivals = []

  function draw() {
    drawing = false
    if (paused) return
    const fresh = waiting.map(makeRow)
    waiting = []
    for (const row of fresh) {
      row.line.hidden = isHidden(row)
      body.prepend(row.line)
    }
    rows = [...fresh.reverse(), ...rows].slice(0, MOST_ROWS)
    while (body.childElementCount > MOST_ROWS) body.lastElementChild?.remove()
    empty.hidden = rows.length > 0
    showAges()
  }

  function makeRow(event) {
    const cell = (name, text, more = {}) => element('td', { class: name, text, ...more })
    const age = cell('age soft', '')
    const line = element(
      'tr',
      { 'data-kind': event.kind, 'data-weight': toNumber(event.amountUsd) >= LARGE_USD ? 'large' : 'usual' },
      age,
      element(
        'td',
        { class: 'what', onclick: () => onPick(event.pairId) },
        element('b', { text: event.symbol }),
        element('span', { class: 'soft', text: event.quoteSymbol === '' ? '' : ` / ${event.quoteSymbol}` }),
      ),
      cell('side', event.side),
      cell('number price', event.priceUsd === undefined ? '' : price(event.priceUsd), { title: event.priceUsd }),
      cell('number amount soft', event.amount === undefined ? '' : short(event.amount)),
      cell('number usd', usd(event.amountUsd), { title: event.amountUsd }),
      cell('wallet mono soft', shortAddress(event.wallet), { title: event.wallet }),
      cell('chain soft', event.chain),
    )
    if (event.live) line.classList.add('fresh')
    return { event, line, age, isRemoved: false }
  }

  function isHidden({ event }) {
    return only !== undefined && event.pairId !== only
  }

  function showAges() {
    for (const { event, age } of rows) age.textContent = duration(nowS(event.chain) - event.timeS)
  }

  function showRate() {
    const since = Date.now() - RATE_WINDOW_MS
    arrivals = arrivals.filter((atMs) => atMs > since)
    const held = paused && waiting.length > 0 ? `, ${waiting.length} buffered` : ''
    rate.textContent = `${((arrivals.length * 1000) / RATE_WINDOW_MS).toFixed(1)} per second${held}`
  }

  setInterval(() => {
    showAges()
    showRate()
  }, 1000)

  return {
    /** A swap that arrived while the past ones were asked for comes twice, and is shown once. */
    add(event) {
      const isSame = (other) => other.id === event.id && other.chain === event.chain
      if (waiting.some(isSame) || rows.some((row) => !row.isRemoved && isSame(row.event))) return
      if (event.live) arrivals.push(Date.now())
      waiting.push(event)
      // Hidden pages get no frames: keep only what a draw would keep.
      if (waiting.length > MOST_ROWS) waiting.splice(0, waiting.length - MOST_ROWS)
      if (drawing || paused) return
      drawing = true
      requestAnimationFrame(draw)
    },
    /** Marks events removed by a reorg. */
    markRemoved(chain, ids) {
      const gone = new Set(ids)
      const isGone = (event) => event.chain === chain && gone.has(event.id)
      waiting = waiting.filter((event) => !isGone(event))
      for (const row of rows) {
        if (!isGone(row.event)) continue
        row.isRemoved = true
        row.line.classList.add('removed')
        row.line.title = 'Removed by a reorg'
      }
    },
    /** Shown once for all subscriptions that missed pushes together. */
    noteGap() {
      if (body.firstElementChild?.className === 'gap') return
      const words = 'Some events were missed while the connection was down.'
      body.prepend(element('tr', { class: 'gap' }, element('td', { colspan: '8', text: words })))
    },
    pause(on) {
      paused = on
      if (!on) draw()
    },
    showOnly(pairId) {
      only = pairId
      for (const row of rows) row.line.hidden = isHidden(row)
    },
  }
}
