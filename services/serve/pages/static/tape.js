/** The page at `/`: the busiest pairs and their live events. */
import { CallError, call } from './api.js'
import { showChains } from './chains.js'
import { byId } from './elements.js'
import { toNumber } from './format.js'
import { createMarkets } from './markets.js'
import { createPairView } from './pair-view.js'
import { openShell, showNotice, watchStatus } from './shell.js'
import { openSocket } from './socket.js'
import { liquidityEvent, pastSwapEvent, swapEvent } from './tape-events.js'
import { createTapeRows } from './tape-rows.js'

const MOST_MARKETS = 24
const PER_CHAIN = 20
const LOOK_AGAIN_MS = 30_000
/** While there are no markets yet. */
const LOOK_SOON_MS = 2000
const PAST_SWAPS = 30

let key = ''
let chains = []
let selected
let session = 0
let ofSession = () => {}
const notices = { connection: '', request: '' }
let chainsAreKnown
const chainsKnown = new Promise((resolve) => {
  chainsAreKnown = resolve
})

/** Chain time by chain: the newest block seen in /status or a push. */
const nowByChain = new Map()
const moveNow = (chain, timeS) => nowByChain.set(chain, Math.max(nowByChain.get(chain) ?? 0, timeS))

const pairView = createPairView({ key: () => key, onError })
const markets = createMarkets(byId('markets'), select)
const tape = createTapeRows({
  body: byId('tape'),
  empty: byId('tape-empty'),
  rate: byId('tape-rate'),
  nowS: (chain) => nowByChain.get(chain) ?? 0,
  onPick: (pairId) => {
    const market = markets.get(pairId)
    if (market !== undefined) select(market)
  },
})

function start(given) {
  key = given
  ofSession()
  session += 1
  const mine = session
  clearNotices()
  const socket = openSocket({ key, onState: showConnection })
  const endByPair = new Map()
  ofSession = () => socket.close()
  pairView.use(socket)

  async function look() {
    if (mine !== session) return
    try {
      const found = await busiest()
      if (mine !== session) return
      follow(socket, endByPair, found)
      setNotice('request', '')
    } catch (error) {
      if (mine !== session || onError(error) === 'stop') return
    }
    setTimeout(look, markets.all().length === 0 ? LOOK_SOON_MS : LOOK_AGAIN_MS)
  }
  look()
}

/** The main pairs of the most traded tokens of all chains. */
async function busiest() {
  await chainsKnown
  const found = []
  for (const { chain } of chains) {
    const { tokens } = await call(key, `/v2/tokens/trending?chain=${encodeURIComponent(chain)}&page_size=${PER_CHAIN}`)
    found.push(...tokens.filter((token) => token.main_pair))
  }
  const byPair = new Map(found.map((token) => [`${token.main_pair}-${token.chain}`, token]))
  return [...byPair.values()]
    .sort((a, b) => (toNumber(b.tx_volume_u_24h) || 0) - (toNumber(a.tx_volume_u_24h) || 0))
    .slice(0, MOST_MARKETS)
    .map((token) => ({
      pairId: `${token.main_pair}-${token.chain}`,
      pair: token.main_pair,
      chain: token.chain,
      token: token.token,
      symbol: token.symbol === '' ? token.token.slice(0, 8) : token.symbol,
      name: token.name,
      priceUsd: token.current_price_usd,
      change24h: token.price_change_24h,
      tokenVolume24h: token.tx_volume_u_24h,
      volume24h: token.tx_volume_u_24h,
      tvl: token.main_pair_tvl,
      trades24h: token.tx_count_24h,
    }))
}

function follow(socket, endByPair, found) {
  const isFirst = endByPair.size === 0
  markets.show(found)
  byId('floor').hidden = false
  const wanted = new Set(found.map(({ pairId }) => pairId))
  for (const [pairId, end] of endByPair) {
    if (wanted.has(pairId)) continue
    end()
    endByPair.delete(pairId)
  }
  const added = found.filter(({ pairId }) => !endByPair.has(pairId))
  for (const market of added) {
    const { pair, chain, pairId } = market
    const topics = [
      { params: ['tx', pair, chain] },
      { params: ['liq', pair, chain] },
      { params: ['price', [pairId]], options: { snapshot: true } },
    ]
    endByPair.set(
      pairId,
      socket.subscribe(topics, (result) => onPush(market, result)),
    )
  }
  if (selected === undefined || !wanted.has(selected.pairId)) {
    const [first] = found
    if (first !== undefined) select(first)
    if (first !== undefined && isFirst) showPast(first)
  } else {
    markets.select(selected.pairId)
  }
  loadSparklines(added)
}

function onPush(market, result) {
  switch (result.topic) {
    case 'tx':
      moveNow(market.chain, result.tx.time)
      return tape.add(swapEvent(result.tx))
    case 'liq':
      moveNow(market.chain, result.tx.time)
      return tape.add(liquidityEvent(result.tx, market))
    case 'price':
      return result.prices.forEach((entry) => {
        moveNow(entry.chain, entry.time)
        const before = toNumber(selected?.priceUsd)
        markets.move(`${entry.pair}-${entry.chain}`, entry)
        if (selected?.pairId === `${entry.pair}-${entry.chain}`) pairView.refresh(before)
      })
    case 'retract':
      return tape.markRemoved(market.chain, result.ids)
    case 'gap':
      return tape.noteGap()
  }
}

/** Shows earlier swaps, so that the tape does not start empty. */
async function showPast(market) {
  try {
    const path = `/v2/txs/swap/${encodeURIComponent(market.pairId)}?limit=${PAST_SWAPS}&sort=desc`
    const { txs } = await call(key, path)
    for (const tx of txs.toReversed()) tape.add(pastSwapEvent(tx, market.token))
  } catch (error) {
    onError(error)
  }
}

/** One at a time: a key may allow only a few requests per second. */
async function loadSparklines(added) {
  const mine = session
  for (const { pairId } of added) {
    try {
      const { points } = await call(key, `/v2/klines/pair/${encodeURIComponent(pairId)}?interval=15&limit=48`)
      if (mine !== session) return
      markets.setCloses(
        pairId,
        points.map(({ close }) => Number(close)),
      )
    } catch (error) {
      return onError(error)
    }
  }
}

function select(market) {
  selected = markets.get(market.pairId) ?? market
  markets.select(selected.pairId)
  byId('only-name').textContent = selected.symbol
  showOnly()
  pairView.select(selected)
}

function showOnly() {
  const { checked } = /** @type {HTMLInputElement} */ (byId('only-selected'))
  tape.showOnly(checked ? selected?.pairId : undefined)
}

function showConnection({ kind, inS, why }) {
  if (kind === 'refused') return onError(new CallError('key', why))
  setConnection(kind, { connecting: 'Connecting…', live: 'Live', waiting: `Reconnecting in ${inS} s` }[kind])
  if (kind === 'waiting') setNotice('connection', `${why} The tape is paused; reconnecting in ${inS} s.`)
  if (kind === 'live') clearNotices()
}

function setConnection(state, words) {
  byId('connection').dataset.state = state
  byId('connection').textContent = words
}

/** @returns {'stop' | 'retry'} whether to retry */
function onError(error) {
  if (error instanceof CallError && error.kind === 'key') {
    session += 1
    ofSession()
    setConnection('refused', 'Not connected')
    shell.askForKey(error.message)
    return 'stop'
  }
  setNotice('request', error instanceof Error ? error.message : String(error))
  return 'retry'
}

/** A lost connection matters more than a failed request. */
function setNotice(about, text) {
  notices[about] = text
  showNotice(notices.connection || notices.request)
}

function clearNotices() {
  setNotice('connection', '')
  setNotice('request', '')
}

byId('only-selected').addEventListener('change', showOnly)
byId('pause').addEventListener('click', ({ currentTarget }) => {
  const on = currentTarget.getAttribute('aria-pressed') !== 'true'
  currentTarget.setAttribute('aria-pressed', String(on))
  currentTarget.textContent = on ? 'Resume' : 'Pause'
  tape.pause(on)
})
watchStatus({
  onStatus: (status) => {
    chains = status.chains
    chainsAreKnown()
    for (const { chain, time } of chains) moveNow(chain, time)
    showChains(byId('chains'), chains)
  },
})
const shell = openShell({ onKey: start })
