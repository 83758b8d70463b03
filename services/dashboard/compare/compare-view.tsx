/** Two to four tokens on one chart of percentages. */
import type { TokenDetailToken } from '@dextape/client'
import { type IChartApi, type ISeriesApi, LineSeries, PriceScaleMode } from 'lightweight-charts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { route, setQuery, tokenPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { clock, theme } from '../app/settings.js'
import { useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { at, openChart, paintChart } from '../chart/draw-chart.js'
import { readBars } from '../chart/read-bars.js'
import { INTERVALS, type IntervalName } from '../chart/series.js'
import { percent, priceUsd, shortAddress } from '../show/format.js'
import { Avatar, Await, ChainMark, Change, Choices, Empty } from '../show/parts.js'

const MOST = 4
const COLOURS = ['#e0a44a', '#5aa9e6', '#b58be0', '#4cc9a0']
const REFRESH_MS = 5000

export function CompareView() {
  const { query } = useValue(route)
  const ids = [...new Set((query.get('ids') ?? '').split(',').filter(Boolean))].slice(0, MOST)
  const interval = INTERVALS.find(({ value }) => value === query.get('interval')) ?? INTERVALS[3]
  const tokens = useLoaded(
    async (signal) => {
      const found = await Promise.all(ids.map((token_id) => ask('tokenDetail', { token_id }, signal)))
      return found.flatMap((detail) => (detail === null ? [] : [detail.token]))
    },
    [ids.join()],
  )
  useEvery(REFRESH_MS, tokens.reload)
  useEffect(() => {
    document.title = `${texts.compare.title} · ${texts.name}`
  }, [])
  const setIds = (next: readonly string[]) => setQuery({ ids: next.join(',') })
  return (
    <div class="market">
      <header class="market-head">
        <h1>{texts.compare.title}</h1>
        <Choices<IntervalName>
          label={texts.chart.interval}
          value={interval.value}
          options={INTERVALS}
          onChoose={(value) => setQuery({ interval: value })}
        />
      </header>
      <Await of={tokens} rows={3}>
        {(found) => (
          <ul class="compared">
            {found.map((token, index) => {
              const id = `${token.token}-${token.chain}`
              return (
                <li key={id} class="panel" style={{ borderTop: `2px solid ${COLOURS[index] ?? ''}` }}>
                  <Avatar id={token.token} label={token.symbol} />
                  <a href={tokenPath(token.chain, token.token)}>
                    <b>{token.symbol || shortAddress(token.token)}</b> <ChainMark chain={token.chain} />{' '}
                    <small class="mono soft">{shortAddress(token.token)}</small>
                  </a>
                  <span class="num">{priceUsd(token.current_price_usd)}</span> <Change value={token.price_change_24h} />
                  <button
                    type="button"
                    class="icon"
                    aria-label={texts.compare.remove(token.symbol)}
                    onClick={() => setIds(ids.filter((one) => one !== id))}
                  >
                    ×
                  </button>
                </li>
              )
            })}
            {ids.length < MOST && (
              <li class="panel">
                <AddToken onAdd={(id) => setIds([...ids, id])} />
              </li>
            )}
          </ul>
        )}
      </Await>
      <section class="panel chart-panel" aria-label={texts.compare.label}>
        {ids.length === 0 && <Empty>{texts.compare.hint}</Empty>}
        <Lines ids={ids} interval={interval.value} tokens={tokens.kind === 'ready' ? tokens.data : []} />
        <p class="credit soft">
          <span />
          <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer noopener">
            {texts.chart.credit}
          </a>
        </p>
      </section>
    </div>
  )
}

function AddToken({ onAdd }: { onAdd: (id: string) => void }) {
  const [text, setText] = useState('')
  const found = useLoaded(
    async (signal) =>
      text.trim() === ''
        ? []
        : ask('tokensKeyword', { keyword: text.trim(), limit: 8, orderby: 'main_pair_tvl' }, signal),
    [text],
  )
  return (
    <div class="add-token">
      <input
        {...{ placeholder: texts.compare.add, 'aria-label': texts.compare.add, value: text, spellcheck: false }}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {found.kind === 'ready' && found.data.length > 0 && (
        <div class="sheet">
          {found.data.map((token) => (
            <button
              key={`${token.token}-${token.chain}`}
              type="button"
              class="plain"
              onClick={() => {
                setText('')
                onAdd(`${token.token}-${token.chain}`)
              }}
            >
              <b>{token.symbol}</b> <ChainMark chain={token.chain} />{' '}
              <span class="mono soft">{shortAddress(token.token)}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

type LinesProps = { ids: readonly string[]; interval: IntervalName; tokens: readonly TokenDetailToken[] }

function Lines({ ids, interval, tokens }: LinesProps) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<IChartApi | undefined>(undefined)
  useEffect(() => {
    if (box.current === null) return undefined
    const made = openChart(box.current)
    made.priceScale('right').applyOptions({ mode: PriceScaleMode.Percentage, scaleMargins: { top: 0.1, bottom: 0.1 } })
    made.applyOptions({ localization: { percentageFormatter: percent } })
    chart.current = made
    const repaint = () => requestAnimationFrame(() => paintChart(made))
    const ends = [theme.subscribe(repaint), clock.subscribe(repaint)]
    return () => {
      for (const end of ends) end()
      made.remove()
    }
  }, [])
  const turn = useRef(0)
  const [refresh, setRefresh] = useState(0)
  useEvery(REFRESH_MS, () => setRefresh((count) => count + 1))
  const lines = useRef(new Map<string, ISeriesApi<'Line'>>())
  useEffect(() => {
    const made = chart.current
    if (made === undefined) return undefined
    for (const [id, line] of lines.current)
      if (!ids.includes(id)) {
        made.removeSeries(line)
        lines.current.delete(id)
      }
    turn.current += 1
    const ending = new AbortController()
    const read = async () => {
      for (const [index, id] of ids.entries()) {
        const bars = await readBars({ kind: 'token', id }, interval, 'u', undefined, ending.signal)
        if (ending.signal.aborted) return
        const line = lines.current.get(id) ?? made.addSeries(LineSeries, { lineWidth: 2, priceLineVisible: false })
        lines.current.set(id, line)
        const title = tokens.find(({ token, chain }) => `${token}-${chain}` === id)?.symbol ?? ''
        line.applyOptions({ color: COLOURS[index] ?? '#888', title })
        line.setData(bars.map(({ timeS, close }) => ({ time: at(timeS), value: close })))
      }
    }
    read().catch(() => {})
    return () => ending.abort()
  }, [ids.join(), interval, refresh, tokens.length])
  return (
    <div class="chart-box">
      <div class="canvas" ref={box} {...{ role: 'img', 'aria-label': texts.compare.label }} />
    </div>
  )
}
