/** The chart of a pair or token: history without end to the left, live on the right. */
import type { KlinePush } from '@dextape/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useFollow } from '../app/live.js'
import { route, setQuery } from '../app/router.js'
import { reasonOf } from '../app/session.js'
import { clock, theme } from '../app/settings.js'
import { useEvery, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { dateTime, directionOf, percent, price, short } from '../show/format.js'
import { Choices } from '../show/parts.js'
import { AuditDialog } from './audit.js'
import { type DrawnChart, drawChart, type Look, STYLES, type Style } from './draw-chart.js'
import { type EventMark, type Mark, marksOf } from './marks.js'
import { type ChartOf, readBars } from './read-bars.js'
import { readMarks } from './read-marks.js'
import {
  type Bar,
  barOf,
  type Currency,
  INTERVALS,
  type IntervalName,
  isBar,
  type Place,
  pushedBar,
  putBar,
} from './series.js'

const CURRENCIES = ['u', 'm', 'r'] as const
const CORRECTED_MS = 6000
const LEAST_REFRESH_MS = 1000
const MARKS_MS = 30_000

type Props = {
  of: ChartOf
  pair: string
  chain: string
  name: string
  symbols: Record<Currency, string>
}
type State = 'loading' | 'ready' | 'older' | 'all'

export function PriceChart({ of, pair, chain, name, symbols }: Props) {
  const { query } = useValue(route)
  const interval = INTERVALS.find(({ value }) => value === query.get('interval')) ?? INTERVALS[1]
  const currency = CURRENCIES.find((value) => value === query.get('currency')) ?? 'u'
  const look: Look = {
    style: STYLES.find((value) => value === query.get('style')) ?? 'candles',
    isLog: query.get('log') === '1',
    hasAverages: query.get('ma') === '1',
    hasVwap: query.get('vwap') === '1',
    hasVolume: query.get('vol') !== '0',
  }
  const marked = { trades: query.get('trades') === '1', liquidity: query.get('liq') === '1' }
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<DrawnChart | undefined>(undefined)
  const bars = useRef<Bar[]>([])
  const marks = useRef<{ events: EventMark[]; corrected: Mark[] }>({ events: [], corrected: [] })
  const isDrawn = useRef(false)
  const older = useRef<() => void>(() => {})
  const [state, setState] = useState<State>('loading')
  const [error, setError] = useState('')
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const [, redraw] = useState(0)
  const [audited, setAudited] = useState<number | undefined>(undefined)
  const pairId = `${pair}-${chain}`
  const place = `${of.kind} ${of.id} ${interval.value} ${currency}`

  useEffect(() => {
    if (box.current === null) return undefined
    const made = drawChart(box.current, setPointed, () => older.current())
    drawn.current = made
    const repaint = () => requestAnimationFrame(() => made.repaint())
    const ends = [theme.subscribe(repaint), clock.subscribe(repaint)]
    return () => {
      for (const end of ends) end()
      drawn.current = undefined
      made.close()
    }
  }, [])
  useEffect(() => drawn.current?.setLook(look), [JSON.stringify(look)])

  useEffect(() => {
    const ending = new AbortController()
    let isReading = false
    let hasMore = true
    bars.current = []
    isDrawn.current = false
    setPointed(undefined)
    setState('loading')
    setError('')
    const read = async (beforeS?: number) => {
      if (isReading || !hasMore) return
      isReading = true
      if (beforeS !== undefined) setState('older')
      try {
        const page = await readBars(of, interval.value, currency, beforeS, ending.signal)
        if (ending.signal.aborted) return
        hasMore = page.length > 0
        // Bars that were pushed meanwhile are newer than the page.
        const known = new Set(bars.current.map(({ timeS }) => timeS))
        bars.current = [...page.filter(({ timeS }) => !known.has(timeS)), ...bars.current].sort(
          (a, b) => a.timeS - b.timeS,
        )
        isDrawn.current = true
        drawn.current?.setBars(bars.current, interval.seconds)
        if (beforeS === undefined) drawn.current?.showLatest()
        setState(hasMore ? 'ready' : 'all')
      } catch (failure) {
        if (ending.signal.aborted) return
        isDrawn.current = true
        setError(reasonOf(failure))
      } finally {
        isReading = false
      }
    }
    older.current = () => void read(bars.current[0]?.timeS)
    drawn.current?.setBars([], interval.seconds)
    void read()
    return () => ending.abort()
  }, [place])

  const barTimeOf = (timeS: number) =>
    bars.current.findLast((bar) => bar.timeS <= timeS)?.timeS ?? Math.floor(timeS / interval.seconds) * interval.seconds
  const showMarks = () =>
    drawn.current?.setMarks([...marksOf(marks.current.events, barTimeOf, interval.seconds), ...marks.current.corrected])
  const firstS = bars.current[0]?.timeS
  const readEvents = async (signal: AbortSignal) => {
    const hasAny = firstS !== undefined && (marked.trades || marked.liquidity)
    const events = hasAny ? await readMarks({ pair, chain, fromS: firstS }, marked, signal) : []
    if (signal.aborted) return
    marks.current.events = events
    showMarks()
  }
  // Of the bars that are loaded: more once older ones were scrolled to.
  useEffect(() => {
    const ending = new AbortController()
    readEvents(ending.signal).catch(() => {})
    return () => ending.abort()
  }, [place, marked.trades, marked.liquidity, firstS])
  useEvery(MARKS_MS, () => void readEvents(new AbortController().signal).catch(() => {}))

  function put(bar: Bar, isRemoved: boolean): void {
    const last = bars.current.at(-1)
    if (isRemoved) bars.current = bars.current.filter(({ timeS }) => timeS !== bar.timeS)
    else putBar(bars.current, bar)
    // One bar alone would set the axes: it is drawn with the first page.
    if (!isDrawn.current) return
    if (!isRemoved && (last === undefined || bar.timeS >= last.timeS)) drawn.current?.moveLast(bars.current)
    else drawn.current?.setBars(bars.current, interval.seconds)
    redraw((count) => count + 1)
  }

  function showCorrected(timeS: number): void {
    const mark: Mark = { timeS, kind: 'corrected', text: 'R' }
    marks.current.corrected = [...marks.current.corrected.filter((one) => one.timeS !== timeS), mark]
    showMarks()
    setTimeout(() => {
      marks.current.corrected = marks.current.corrected.filter((one) => one !== mark)
      showMarks()
      redraw((count) => count + 1)
    }, CORRECTED_MS)
  }

  const refreshed = useRef(0)
  function onPush(push: KlinePush): void {
    const bar = pushedBar(push, currency)
    if (push.corrected === true || push.removed === true) showCorrected(push.kline.usd.time)
    if (bar !== undefined) return put(bar, push.removed === true)
    // Pushes have no bars in the quote token: the last ones are read again.
    if (Date.now() - refreshed.current < LEAST_REFRESH_MS) return
    refreshed.current = Date.now()
    const asked = place
    readBars(of, interval.value, currency, undefined, new AbortController().signal).then(
      (page) => {
        if (asked === place) for (const one of page.slice(-3)) put(one, false)
      },
      () => {},
    )
  }
  useFollow(
    ['kline', pair, interval.value, chain],
    (item) => {
      if (item.topic === 'kline') onPush(item)
      else if (item.topic === 'refill' && currency === 'u') for (const point of item.items) put(barOf(point), false)
    },
    { snapshot: true },
  )

  const shown: Place | undefined =
    pointed === undefined
      ? bars.current.at(-1)
      : (bars.current.find(({ timeS }) => timeS === pointed) ?? { timeS: pointed })
  /** In a gap the one before it. */
  const shownBar = shown === undefined ? undefined : bars.current.findLast(({ timeS }) => timeS <= shown.timeS)
  const toggle = (name: string, isOn: boolean) => setQuery({ [name]: isOn ? undefined : '1' })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const now = shownBar === undefined ? -1 : bars.current.indexOf(shownBar)
    const next = bars.current[Math.max(0, Math.min(bars.current.length - 1, now + step))]
    if (next !== undefined) drawn.current?.pointAt(next)
  }
  const words = texts.chart
  return (
    <section class="panel chart-panel" aria-label={words.label(name)}>
      <div class="chart-bar">
        <Choices<IntervalName>
          label={words.interval}
          value={interval.value}
          options={INTERVALS}
          onChoose={(value) => setQuery({ interval: value === 'k1' ? undefined : value })}
        />
        <Choices<Currency>
          label={words.currency}
          value={currency}
          options={CURRENCIES.map((value) => ({ value, label: symbols[value], title: words.currencies[value] }))}
          onChoose={(value) => setQuery({ currency: value === 'u' ? undefined : value })}
        />
        <Choices<Style>
          label={words.style}
          value={look.style}
          options={STYLES.map((value) => ({ value, label: words.styles[value] }))}
          onChoose={(value) => setQuery({ style: value === 'candles' ? undefined : value })}
        />
        <fieldset class="choices" aria-label={words.indicators}>
          <Toggle label={words.log} isOn={look.isLog} onPress={() => toggle('log', look.isLog)} />
          <Toggle
            label={words.volume}
            isOn={look.hasVolume}
            onPress={() => setQuery({ vol: look.hasVolume ? '0' : undefined })}
          />
          <Toggle label={words.ma} isOn={look.hasAverages} onPress={() => toggle('ma', look.hasAverages)} />
          <Toggle label={words.vwap} isOn={look.hasVwap} onPress={() => toggle('vwap', look.hasVwap)} />
          <Toggle label={words.trades} isOn={marked.trades} onPress={() => toggle('trades', marked.trades)} />
          <Toggle label={words.liquidity} isOn={marked.liquidity} onPress={() => toggle('liq', marked.liquidity)} />
        </fieldset>
        <button
          type="button"
          title={words.auditTitle}
          disabled={shownBar === undefined}
          onClick={() => setAudited(shownBar?.timeS)}
        >
          {words.audit}
        </button>
      </div>
      <div class="chart-box">
        <p class="legend num">{shown === undefined ? '' : <Legend place={shown} />}</p>
        <p class="chart-state soft" role="status">
          {marks.current.corrected.length > 0 && <b class="fix">{words.corrected(marks.current.corrected.length)}</b>}
          {error !== '' && <span class="down">{error}</span>}
          {state === 'older' && words.loadingHistory}
          {state === 'all' && bars.current.length === 0 && words.noCandles}
        </p>
        <div
          class="canvas"
          ref={box}
          // Arrow keys move the crosshair.
          {...{ role: 'img', tabIndex: 0, 'aria-label': words.label(name), onKeyDown }}
          data-bars={bars.current.length}
          data-first={bars.current[0]?.timeS}
        />
      </div>
      <p class="credit soft">
        <button type="button" class="link" onClick={() => drawn.current?.showLatest()}>
          {words.latest}
        </button>
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer noopener" title={words.creditNotice}>
          {words.credit}
        </a>
      </p>
      {audited !== undefined && (
        <AuditDialog
          {...{ pairId, interval: interval.value, timeS: audited, currency }}
          onClose={() => setAudited(undefined)}
        />
      )}
    </section>
  )
}

function Toggle({ label, isOn, onPress }: { label: string; isOn: boolean; onPress: () => void }) {
  return (
    <button type="button" aria-pressed={isOn} onClick={onPress}>
      {label}
    </button>
  )
}

function Legend({ place }: { place: Place }) {
  const isLocal = useValue(clock) === 'local'
  if (!isBar(place))
    return (
      <>
        <span class="soft">{dateTime(place.timeS, isLocal)}</span> <span class="soft">{texts.chart.noTrades}</span>
      </>
    )
  const bar = place
  const change = (bar.close / bar.open - 1) * 100
  return (
    <>
      <span class="soft">{dateTime(bar.timeS, isLocal)}</span> <span class="soft">O</span> {price(bar.open)}{' '}
      <span class="soft">H</span> {price(bar.high)} <span class="soft">L</span> {price(bar.low)}{' '}
      <span class="soft">C</span> {price(bar.close)} <span class={directionOf(change)}>{percent(change)}</span>{' '}
      <span class="soft">V</span> {short(bar.volume)}
    </>
  )
}
