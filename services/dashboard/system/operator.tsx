/** What only a key of plan operator may see. */
import type { OperationName, Result } from '@dextape/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../app/session.js'
import { type Loaded, useEvery, useLoaded } from '../app/store.js'
import { texts } from '../app/texts.js'
import { bytes, short, span, whole } from '../show/format.js'
import { Await, Empty, History, Panel, ScrollRows, When } from '../show/parts.js'

const REFRESH_MS = 10_000
/** Sizes are sampled once a minute. */
const LEAST_GROWTH_S = 60

export type HourSamples = Result<'operatorHistory'>['samples']

/** `access`: whether the key may see it. `samples`: undefined until something was sampled. */
export type OperatorHistory = { samples: HourSamples | undefined; access: 'asked' | 'refused' | 'granted' }

/** Every key may ask for it. It says whether the key may ask for more: a browser reports refused requests on its console. */
export function useOperatorHistory(): OperatorHistory {
  const history = useLoaded((signal) => ask('operatorHistory', {}, signal), [])
  useEvery(REFRESH_MS, history.reload)
  if (history.kind !== 'ready') return { samples: undefined, access: 'asked' }
  const { samples, operator } = history.data
  return { samples: samples.length > 1 ? samples : undefined, access: operator ? 'granted' : 'refused' }
}

function useOperation<Name extends OperationName>(name: Name): Loaded<Result<Name>> & { reload(): void } {
  const loaded = useLoaded<Result<Name>>((signal) => ask(name, {} as never, signal), [name])
  useEvery(REFRESH_MS, loaded.reload)
  return loaded
}

export function Operator({ history: { samples, access } }: { history: OperatorHistory }) {
  const words = texts.operator
  if (access === 'asked') return null
  if (access === 'refused')
    return (
      <Panel title={words.title}>
        <p class="note soft">
          {words.only} <code>npx dextape keys create --name ops --plan operator</code>.
        </p>
      </Panel>
    )
  return (
    <>
      <AllKeys />
      <DeadLetters />
      <Nodes />
      <Storage history={samples} />
    </>
  )
}

function AllKeys() {
  const keys = useOperation('operatorKeys')
  return (
    <Panel title={texts.operator.keys}>
      <Await of={keys}>{(rows) => <Keys rows={rows} />}</Await>
    </Panel>
  )
}

function Table({ label, head, children }: { label: string; head: readonly string[]; children: ComponentChildren }) {
  return (
    <ScrollRows label={label}>
      <table class="rows">
        <thead>
          <tr>
            {head.map((text) => (
              <th key={text}>{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollRows>
  )
}

function Keys({ rows }: { rows: Result<'operatorKeys'> }) {
  const c = texts.operator.columns
  return (
    <Table
      label={texts.operator.keys}
      head={[c.id, c.name, c.plan, c.state, c.rate, c.quota, c.spent, c.created, c.expires]}
    >
      {rows.map((key) => (
        <tr key={key.id}>
          <td class="mono soft">{key.id}</td>
          <td>
            <b>{key.name}</b>
          </td>
          <td>{key.opens === 'everything' ? key.plan : `${key.plan}, ${key.opens}`}</td>
          <td class={key.state === 'valid' ? 'up' : 'down'}>{key.state}</td>
          <td class="num">{short(key.requests_per_s)}</td>
          <td class="num">{short(key.cu_per_month)}</td>
          <td class="num">{whole(key.cu_this_month)}</td>
          <td>
            <When timeS={key.created_at} />
          </td>
          <td>
            <When timeS={key.expires_at ?? 0} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function DeadLetters() {
  const letters = useOperation('operatorDeadLetters')
  const [opened, setOpened] = useState('')
  const words = texts.operator
  const c = words.columns
  return (
    <Panel title={words.dead}>
      <Await of={letters}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{words.noDead}</Empty>
          ) : (
            <Table label={words.dead} head={[c.chain, c.reason, c.detail, c.block, c.time, c.source, words.raw]}>
              {rows.map((letter) => {
                const id = `${letter.chain} ${letter.offset}`
                return (
                  <>
                    <tr key={id}>
                      <td>{letter.chain}</td>
                      <td class="mono down">{letter.reason}</td>
                      <td class="detail" title={letter.detail}>
                        {letter.detail}
                      </td>
                      <td class="num">{whole(letter.block_number)}</td>
                      <td>
                        <When timeS={letter.time} />
                      </td>
                      <td class="soft">{letter.source}</td>
                      <td>
                        <button
                          type="button"
                          aria-expanded={opened === id}
                          onClick={() => setOpened(opened === id ? '' : id)}
                        >
                          {bytes(letter.raw_bytes)}
                        </button>
                      </td>
                    </tr>
                    {opened === id && (
                      <tr key={`${id} raw`}>
                        <td colSpan={7}>
                          <pre class="raw">{letter.raw}</pre>
                        </td>
                      </tr>
                    )}
                  </>
                )
              })}
            </Table>
          )
        }
      </Await>
    </Panel>
  )
}

function Nodes() {
  const found = useOperation('operatorNodes')
  const words = texts.operator
  const c = words.columns
  return (
    <Panel title={words.nodes}>
      <Await of={found}>
        {({ sources, nodes }) => (
          <>
            <ul class="note sources">
              {sources.map(({ chain, source, source_age_s, stopped }) => (
                <li key={chain}>
                  <b>{chain}</b> {source}{' '}
                  <span class={stopped === null ? 'soft' : 'down'}>
                    {stopped ?? (source_age_s === null ? '' : words.age(span(source_age_s)))}
                  </span>
                </li>
              ))}
            </ul>
            {nodes.length === 0 ? (
              <Empty>{words.noNodes}</Empty>
            ) : (
              <Table label={words.nodes} head={[c.chain, c.node, c.health, c.head, c.requests, c.errors, c.latency]}>
                {nodes.map((node) => (
                  <tr key={`${node.chain} ${node.node}`}>
                    <td>{node.chain}</td>
                    <td class="mono">{node.node}</td>
                    <td class={node.healthy ? 'up' : 'down'}>{node.healthy ? words.healthy : words.unhealthy}</td>
                    <td class="num">{whole(node.head)}</td>
                    <td class="num">{whole(node.requests)}</td>
                    <td class="num">{whole(node.errors)}</td>
                    <td class="num">{short(node.latency_s * 1000)} ms</td>
                  </tr>
                ))}
              </Table>
            )}
          </>
        )}
      </Await>
    </Panel>
  )
}

function Storage({ history = [] }: { history: HourSamples | undefined }) {
  const sizes = useOperation('operatorStorage')
  const words = texts.operator
  const c = words.columns
  /** The size, and how it changed over what is known of the hour. */
  const growth = (name: 'log_bytes' | 'store_bytes') => (size: number) => {
    const known = history.filter((one) => one[name] > 0)
    const [first, last] = [known[0], known.at(-1)]
    if (first === undefined || last === undefined || last.time - first.time < LEAST_GROWTH_S) return bytes(size)
    const perHour = ((last[name] - first[name]) * 3600) / (last.time - first.time)
    return (perHour < 0 ? words.shrinks : words.growth)(bytes(size), bytes(Math.abs(perHour)))
  }
  return (
    <Panel title={words.storage}>
      <div class="histories sizes">
        <History label={words.log} values={history.map((one) => one.log_bytes)} format={growth('log_bytes')} />
        <History label={words.store} values={history.map((one) => one.store_bytes)} format={growth('store_bytes')} />
      </div>
      <Await of={sizes}>
        {({ log, store }) => (
          <div class="halves">
            <Table label={c.topic} head={[c.topic, c.records, c.size]}>
              {log.map((one) => (
                <tr key={one.topic}>
                  <td class="mono">{one.topic}</td>
                  <td class="num">{whole(one.records)}</td>
                  <td class="num">{bytes(one.bytes)}</td>
                </tr>
              ))}
            </Table>
            <Table label={c.table} head={[c.table, c.rows, c.size]}>
              {store.map((one) => (
                <tr key={one.table}>
                  <td class="mono">{one.table}</td>
                  <td class="num">{whole(one.rows)}</td>
                  <td class="num">{bytes(one.bytes)}</td>
                </tr>
              ))}
            </Table>
          </div>
        )}
      </Await>
    </Panel>
  )
}
