/** The list of pairs: price, change, sparkline; one of them is selected. */
import { element } from './elements.js'
import { directionOf, percent, price, toNumber, usdShort } from './format.js'
import { drawSparkline, sparkline } from './sparkline.js'

const SPARK_POINTS = 48

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

  /** Its price is told by pushes; what moves without a trade is not. */
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
    /** Shows these, in this order; what is known of a pair stays. */
    show(markets) {
      const shown = markets.map((market) => {
        const row = rows.get(market.pairId)
        return row === undefined ? add(market) : renew(row, market)
      })
      const kept = new Set(shown)
      for (const [pairId, row] of rows) if (!kept.has(row)) rows.delete(pairId)
      list.replaceChildren(...shown.map(({ item }) => item))
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
    /** A price push. */
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

/** Begins anew also while the last one still runs. */
export function flash(target, name) {
  target.classList.remove('flash-up', 'flash-down')
  void target.offsetWidth
  target.classList.add(name)
}
