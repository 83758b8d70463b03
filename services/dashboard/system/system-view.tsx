/** How the server is: chains, clients, latency, and for the operator keys, dead letters, nodes and sizes. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { hear } from '../app/session.js'
import { lagOf, type Status, status } from '../app/status.js'
import { useEvery, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { short, span, whole } from '../show/format.js'
import { Age, Empty, History, Panel, ScrollRows, Skeleton } from '../show/parts.js'
import { deepestOf, type Metrics, parseMetrics, perSecond, quantile, sumOf } from './metrics-text.js'
import { type HourSamples, Operator, useOperatorHistory } from './operator.js'

const POLL_MS = 2000
const KEPT = 1800
const STAGES = ['append', 'fold', 'observe', 'write', 'total']
const SLOW_S = 30
/** Rates are means over this long: a chain may have a block every twelve seconds. */
const RATE_MS = 30_000

type ChainPoint = { lag: number; blocks: number; swaps: number }
type Point = {
  chains: Record<string, ChainPoint>
  requests: number
  sockets: number
  subscriptions: number
  unread: number
}

/** Rates between two readings of /metrics, and all points since the page was opened. */
function useReadings() {
  const first = useRef<Metrics | undefined>(undefined)
  const recent = useRef<Metrics[]>([])
  const points = useRef<Point[]>([])
  const [now, setNow] = useState<Metrics | undefined>(undefined)
  const read = async () => {
    const response = await fetch('/metrics')
    if (!response.ok) return
    hear()
    const metrics = parseMetrics(await response.text(), Date.now())
    const report = status.get()
    first.current ??= metrics
    recent.current = [...recent.current.filter(({ atMs }) => atMs >= metrics.atMs - RATE_MS), metrics]
    const [before] = recent.current
    if (before !== undefined && before !== metrics && report !== undefined)
      points.current = [...points.current, pointOf(report, before, metrics)].slice(-KEPT)
    setNow(metrics)
  }
  useEffect(() => void read().catch(() => {}), [])
  useEvery(POLL_MS, () => void read().catch(() => {}))
  return { now, first: first.current === now ? undefined : first.current, points: points.current }
}

function pointOf(report: Status, before: Metrics, now: Metrics): Point {
  const { sockets = 0, subscriptions = 0, unread_mb = 0 } = report.budgets.in_use
  return {
    ...{ sockets, subscriptions, unread: unread_mb, requests: perSecond(before, now, 'dextape_serve_requests_total') },
    chains: Object.fromEntries(
      report.chains.map((chain) => [
        chain.chain,
        {
          lag: lagOf(chain),
          blocks: perSecond(before, now, 'dextape_serve_updates_applied_total', { chain: chain.chain }),
          swaps: perSecond(before, now, 'dextape_fold_swaps_total', { chain: chain.chain }),
        },
      ]),
    ),
  }
}

export function SystemView() {
  const report = useValue(status)
  const { now, first, points } = useReadings()
  const history = useOperatorHistory()
  useEffect(() => {
    document.title = `${texts.system.title} · ${texts.name}`
  }, [])
  if (report === undefined) return <Skeleton rows={14} />
  const words = texts.system
  return (
    <div class="market system">
      <header class="market-head">
        <h1>{words.title}</h1>
        <span class="soft">{words.version(report.version)}</span>
        <a class="soft" href="/status" target="_blank" rel="noreferrer">
          {words.raw}
        </a>
        <a class="soft" href="/metrics" target="_blank" rel="noreferrer">
          {words.metrics}
        </a>
      </header>
      <Outages report={report} />
      <ChainTable report={report} points={points} now={now} hour={history.samples} />
      <Lines report={report} hour={history.samples} points={points} />
      <div class="halves">
        <Clients report={report} now={now} />
        <Latency now={now} first={first} />
      </div>
      <Operator history={history} />
    </div>
  )
}

type Line = [label: string, values: number[], format: (value: number) => string]
type LinesProps = { report: Status; hour: HourSamples | undefined; points: readonly Point[] }

/** The last hour as the server kept it; right after its start what this page has seen. */
function Lines({ report, hour, points }: LinesProps) {
  const words = texts.system
  const { columns } = words
  const ofChain = (chain: string): Line[] => {
    const samples =
      hour?.map((sample) => {
        const one = sample.chains.find((each) => each.chain === chain)
        return { lag: one?.lag_s, blocks: one?.blocks_per_s, swaps: one?.swaps_per_s }
      }) ?? points.map((point) => point.chains[chain])
    const line = (name: keyof ChainPoint) => samples.map((one) => one?.[name] ?? Number.NaN)
    return [
      [`${chain} · ${columns.lag}`, line('lag'), span],
      [`${chain} · ${columns.blocks}`, line('blocks'), short],
      [`${chain} · ${columns.swaps}`, line('swaps'), short],
    ]
  }
  const latency: Line[] =
    hour === undefined ? [] : [[words.latencyLine, hour.map((one) => one.latency_p95_ms ?? Number.NaN), milliseconds]]
  const lines: Line[] = [
    ...report.chains.flatMap(({ chain }) => ofChain(chain)),
    [words.requests, hour?.map((one) => one.requests_per_s) ?? points.map((one) => one.requests), short],
    [words.sockets, hour?.map((one) => one.sockets) ?? points.map((one) => one.sockets), whole],
    [words.subscriptions, hour?.map((one) => one.subscriptions) ?? points.map((one) => one.subscriptions), whole],
    [words.unreadMb, hour?.map((one) => one.unread_mb) ?? points.map((one) => one.unread), short],
    ...latency,
  ]
  return (
    <Panel title={hour === undefined ? words.sinceOpened : words.lastHour}>
      <div class="histories">
        {lines.map(([label, values, format]) => (
          <History key={label} label={label} values={values} format={format} />
        ))}
      </div>
    </Panel>
  )
}

const milliseconds = (value: number): string => (value < 1000 ? `${short(value)} ms` : `${short(value / 1000)} s`)

function Outages({ report }: { report: Status }) {
  const words = texts.system
  const broken = [
    ...report.away.map(({ part, where, reason }) => words.outage(part, where, reason)),
    ...report.chains.flatMap(({ chain, stopped }) => (stopped === null ? [] : [`${chain}: ${stopped}`])),
    ...(report.threads ?? []).flatMap(({ thread, restarts, last_end }) =>
      restarts > 0 ? [`${thread} ${words.restarted(restarts)}: ${last_end ?? ''}`] : [],
    ),
  ]
  return (
    <Panel title={words.outages}>
      {broken.length === 0 ? (
        <p class="note up">{words.noOutages}</p>
      ) : (
        <ul class="note down">
          {broken.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

type ChainTableProps = LinesProps & { now: Metrics | undefined }

function ChainTable({ report, points, now, hour }: ChainTableProps) {
  const words = texts.system.columns
  const last = points.at(-1)
  return (
    <Panel title={texts.system.chains}>
      {report.chains.length === 0 ? (
        <Empty>{texts.markets.waiting}</Empty>
      ) : (
        <ScrollRows label={texts.system.chains}>
          <table class="rows">
            <thead>
              <tr>
                <th>{words.chain}</th>
                {[words.head, words.lag, words.blocks, words.swaps, words.unfinal, words.unstored].map((label) => (
                  <th key={label} class="figure">
                    {label}
                  </th>
                ))}
                <th class="figure">{words.reorgs}</th>
                <th>{words.reorg}</th>
                <th class="figure">{words.dead}</th>
                <th class="figure">{words.gaps}</th>
                <th>{words.source}</th>
              </tr>
            </thead>
            <tbody>
              {report.chains.map((chain) => {
                const point = last?.chains[chain.chain]
                const sample = hour?.at(-1)?.chains.find((one) => one.chain === chain.chain)
                const stored = now === undefined ? 0 : sumOf(now, 'dextape_store_seq', { chain: chain.chain })
                const lag = lagOf(chain)
                return (
                  <tr key={chain.chain}>
                    <td>
                      <b>{chain.chain}</b>
                    </td>
                    <td class="figure num">{whole(chain.head)}</td>
                    <td class={`figure num ${lag > SLOW_S ? 'down' : 'up'}`}>{span(lag)}</td>
                    <td class="figure num">{short(point?.blocks ?? sample?.blocks_per_s)}</td>
                    <td class="figure num">{short(point?.swaps ?? sample?.swaps_per_s)}</td>
                    <td class="figure num">{whole(chain.head - chain.finalized)}</td>
                    <td class="figure num">{stored === 0 ? '–' : whole(Math.max(0, chain.seq - stored))}</td>
                    <td class="figure num">{now === undefined ? '–' : reorgText(now, chain.chain)}</td>
                    <td>
                      {chain.last_reorg === null ? (
                        <span class="soft">{texts.system.none}</span>
                      ) : (
                        <>
                          <span class="num">
                            {texts.system.reorg(chain.last_reorg.depth, whole(chain.last_reorg.at_block))}
                          </span>{' '}
                          <Age timeS={chain.last_reorg.time} nowS={chain.time} />
                        </>
                      )}
                    </td>
                    <td class={`figure num ${chain.dead_letters > 0 ? 'down' : ''}`}>{whole(chain.dead_letters)}</td>
                    <td class={`figure num ${chain.gaps > 0 ? 'down' : ''}`}>{whole(chain.gaps)}</td>
                    <td class="soft">{chain.source}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </ScrollRows>
      )}
    </Panel>
  )
}

/** Since the start of the process, with the depth that none was above. */
function reorgText(now: Metrics, chain: string): string {
  const count = sumOf(now, 'dextape_fold_reorg_depth_blocks_count', { chain })
  const deepest = deepestOf(now, chain)
  return count === 0 || !Number.isFinite(deepest) ? whole(count) : texts.system.reorgs(whole(count), whole(deepest))
}

function Clients({ report, now }: { report: Status; now: Metrics | undefined }) {
  const words = texts.system
  const { in_use: used } = report.budgets
  const facts: [string, string][] = [
    [words.sockets, whole(used.sockets)],
    [words.keys, whole(used.keys)],
    [words.subscriptions, whole(used.subscriptions)],
    [words.ids, whole(used.ids)],
    [words.slow, now === undefined ? '–' : whole(sumOf(now, 'dextape_serve_slow_sockets'))],
    [words.unread, `${short(used.unread_mb)} MB`],
    [words.memory, `${short(used.memory_mb)} MB`],
    [words.conflated, now === undefined ? '–' : whole(sumOf(now, 'dextape_serve_pushes_conflated_total'))],
    [words.closed, now === undefined ? '–' : whole(sumOf(now, 'dextape_serve_sockets_closed_total'))],
  ]
  return (
    <Panel title={words.clients} aside={<span class="soft">{report.push?.server}</span>}>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={name} class="num">
              {value}
            </dd>
          </>
        ))}
      </dl>
    </Panel>
  )
}

/** Of the blocks since the page was opened; of all if there were none. */
function Latency({ now, first }: { now: Metrics | undefined; first: Metrics | undefined }) {
  const words = texts.system
  const text = (seconds: number) => (Number.isFinite(seconds) ? `≤ ${milliseconds(seconds * 1000)}` : '–')
  return (
    <Panel title={words.latency}>
      <table class="rows">
        <thead>
          <tr>
            <td />
            <th class="figure">{words.median}</th>
            <th class="figure">{words.p95}</th>
            <th class="figure">{words.p99}</th>
          </tr>
        </thead>
        <tbody>
          {STAGES.map((stage) => {
            const of = (part: number) => {
              if (now === undefined) return Number.NaN
              const recent = quantile(first, now, stage, part)
              return Number.isNaN(recent) ? quantile(undefined, now, stage, part) : recent
            }
            return (
              <tr key={stage}>
                <th scope="row">{words.stages[stage]}</th>
                <td class="figure num">{text(of(0.5))}</td>
                <td class="figure num">{text(of(0.95))}</td>
                <td class="figure num">{text(of(0.99))}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Panel>
  )
}
