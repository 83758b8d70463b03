/** The selected pair: name, price, statistics and a live chart. */
import { call } from './api.js'
import { createChart } from './chart.js'
import { byId, element } from './elements.js'
import { directionOf, percent, price, short, shortAddress, toNumber, usdShort } from './format.js'
import { flash } from './markets.js'

const INTERVALS = [
  ['s1', '1s', 1],
  ['k1', '1m', 60],
  ['k5', '5m', 300],
  ['k15', '15m', 900],
  ['k60', '1h', 3600],
  ['k240', '4h', 14_400],
  ['k1440', '1d', 86_400],
]
const HISTORY = 300

/**
 * @param {{ key: () => string, onError: (error: unknown) => void }} page
 */
export function createPairView({ key, onError }) {
  const chart = createChart(/** @type {HTMLCanvasElement} */ (byId('chart')), byId('legend'))
  const buttons = new Map()
  let market
  let interval = 'k1'
  let socket
  let unsubscribe = () => {}
  /** Increased on each selection, to ignore late responses. */
  let choice = 0

  for (const [name, label] of INTERVALS) {
    const button = element('button', { type: 'button', text: label, onclick: () => choose(name) })
    buttons.set(name, button)
    byId('intervals').append(button)
  }

  function choose(name) {
    interval = name
    load()
  }

  async function load() {
    for (const [name, button] of buttons) button.setAttribute('aria-pressed', String(name === interval))
    if (market === undefined) return
    choice += 1
    const mine = choice
    unsubscribe()
    const wanted = { pair: market.pair, chain: market.chain, pairId: market.pairId, interval }
    let early = []
    let live = (bar) => early.push(bar)
    unsubscribe = socket.subscribe([{ params: ['kline', wanted.pair, wanted.interval, wanted.chain] }], (result) => {
      if (mine !== choice) return
      if (result.topic === 'gap') refill(wanted, mine)
      else if (result.topic === 'kline') live(result)
    })
    await refill(wanted, mine)
    if (mine !== choice) return
    for (const result of early) showCandle(chart, result)
    early = []
    live = (result) => showCandle(chart, result)
  }

  async function refill(wanted, mine) {
    try {
      const path = `/v2/klines/pair/${encodeURIComponent(wanted.pairId)}?interval=${wanted.interval}&limit=${HISTORY}`
      const { points } = await call(key(), path)
      if (mine !== choice) return
      const stepS = INTERVALS.find(([name]) => name === wanted.interval)?.[2] ?? 60
      chart.setBars(
        points.map((point) => barOf(point)),
        stepS,
      )
    } catch (error) {
      onError(error)
    }
  }

  function showFacts() {
    const trades = toNumber(market.trades24h)
    const facts = [
      ['24 h', percent(market.change24h), directionOf(market.change24h)],
      ['Volume 24 h', usdShort(market.volume24h)],
      ['TVL', usdShort(market.tvl)],
      ['Trades 24 h', Number.isNaN(trades) ? '–' : short(trades)],
    ]
    byId('pair-price').textContent = `$${price(market.priceUsd)}`
    document.title = `${market.symbol} $${price(market.priceUsd)} · Dextape`
    byId('pair-facts').replaceChildren(
      ...facts.map(([name, value, tone = '']) =>
        element('div', {}, element('dt', { text: name }), element('dd', { text: value, class: tone })),
      ),
    )
  }

  return {
    use(given) {
      socket = given
    },
    select(given) {
      market = given
      byId('pair-title').textContent = market.symbol
      byId('pair-where').textContent =
        `${market.name === '' ? '' : `${market.name} · `}${market.chain} · ${shortAddress(market.pair)}`
      byId('pair-where').title = market.pairId
      showFacts()
      load()
    },
    /** Called after a price push for the selected pair. */
    refresh(before) {
      showFacts()
      const now = toNumber(market.priceUsd)
      if (now !== before) flash(byId('pair-price'), now > before ? 'flash-up' : 'flash-down')
    },
  }
}

function showCandle(chart, { kline, removed }) {
  if (removed === true) chart.remove(kline.usd.time)
  else chart.upsert(barOf(kline.usd))
}

function barOf({ time, open, high, low, close, volume }) {
  return {
    timeS: time,
    open: Number(open),
    high: Number(high),
    low: Number(low),
    close: Number(close),
    volume: Number(volume),
  }
}
