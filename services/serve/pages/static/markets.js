/** The list of pairs with price, change and sparkline; one is selected. */
import { element } from './elements.js'
import { directionOf, percent, price, toNumber, usdShort } from './format.js'

const SPARK_POINTS = 48
const SVG = 'http://www.w3.org/2000/svg'
const SPARK_WIDTH = 62
const SPARK_HEIGHT = 26

/**
 * @param {HTMLElement} list
 * @param {(market: object) => void} onSelect
 */
export function createMarkets(list, onSelect) {
  /** By pair-id. */
  const rows = new Map()

  function add(market) {
    const where = element('small', { class: 'soft' })
    const quote = element('span', { class: 'quote' })
    const spark = sparkline()
    const button = element(
      'button',
      { type: 'button', 'aria-pressed': 'false', onclick: () => onSelect(market) },
      element('span', { class: 'symbol', title: market.name }, market.symbol, where),
      spark,
      quote,
    )
    const row = { market, item: element('li', {}, button), button, where, quote, spark, closes: [] }
    rows.set(market.pairId, row)
    showQuote(row)
    return row
  }

  /** Updates what changes without a trade; the price comes from pushes. */
  function renew(row, { change24h, tokenVolume24h, tvl, trades24h }) {
    Object.assign(row.market, { change24h, tokenVolume24h, tvl, trades24h })
    showQuote(row)
    return row
  }

  function showQuote({ where, quote, market }) {
    where.textContent = `${market.chain} · ${usdShort(market.tokenVolume24h)}`
    const change = element('small', { class: directionOf(market.change24h), text: percent(market.change24h) })
    quote.replaceChildren(element('span', { text: price(market.priceUsd), title: market.priceUsd }), change)
  }

  return {
    /** Shows these pairs in this order; keeps the rows of known pairs. */
    show(markets) {
      const visible = markets.map((market) => {
        const row = rows.get(market.pairId)
        return row === undefined ? add(market) : renew(row, market)
      })
      const kept = new Set(visible)
      for (const [pairId, row] of rows) if (!kept.has(row)) rows.delete(pairId)
      list.replaceChildren(...visible.map(({ item }) => item))
    },
    get: (pairId) => rows.get(pairId)?.market,
    all: () => [...rows.values()].map(({ market }) => market),
    select(pairId) {
      for (const [id, { button }] of rows) button.setAttribute('aria-pressed', String(id === pairId))
    },
    setCloses(pairId, closes) {
      const row = rows.get(pairId)
      if (row === undefined) return
      row.closes = closes.slice(-SPARK_POINTS)
      drawSparkline(row.spark, row.closes)
    },
    /** Applies a price push. */
    move(pairId, entry) {
      const row = rows.get(pairId)
      if (row === undefined) return
      const before = toNumber(row.market.priceUsd)
      Object.assign(row.market, {
        priceUsd: entry.uprice,
        change24h: entry.price_change_24h,
        volume24h: entry.volume_24_u,
        tvl: entry.tvl,
        trades24h: entry.tx_count_24h,
      })
      showQuote(row)
      const now = toNumber(entry.uprice)
      if (Number.isNaN(now) || now === before) return
      flash(row.quote, now > before ? 'flash-up' : 'flash-down')
      row.closes = [...row.closes, now].slice(-SPARK_POINTS)
      drawSparkline(row.spark, row.closes)
    },
  }
}

/** Restarts the animation if it is still running. */
export function flash(target, name) {
  target.classList.remove('flash-up', 'flash-down')
  void target.offsetWidth
  target.classList.add(name)
}

function sparkline() {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`)
  svg.setAttribute('aria-hidden', 'true')
  svg.append(document.createElementNS(SVG, 'path'))
  return svg
}

/** @param {number[]} values */
function drawSparkline(svg, values) {
  const path = svg.firstElementChild
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [first = 0, last = 0] = [values[0], values.at(-1)]
  path.setAttribute('class', last > first ? 'up' : last < first ? 'down' : '')
  const x = (index) => ((index / Math.max(1, values.length - 1)) * SPARK_WIDTH).toFixed(1)
  const y = (value) =>
    (high === low ? SPARK_HEIGHT / 2 : 2 + (1 - (value - low) / (high - low)) * (SPARK_HEIGHT - 4)).toFixed(1)
  path.setAttribute('d', values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`).join(''))
}
