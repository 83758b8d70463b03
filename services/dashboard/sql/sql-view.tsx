import samples from 'virtual:sql-samples'
import type { SqlQuery } from '@dextape/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, client, reasonOf } from '../app/session.js'
import { createStoredValue, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { short, whole } from '../show/format.js'
import { Await, Choices, Empty, linePath, Panel, ScrollRows } from '../show/parts.js'
import { complete, completionsAt, type Drawing, drawingOf } from './complete.js'

const FORMATS = ['csv', 'jsonl', 'parquet', 'arrow'] as const
type Format = (typeof FORMATS)[number]
const SHOWN = 500
const BARS = 24

const query = createStoredValue('dextape-sql', samples[0]?.query ?? 'SELECT 1')

type Outcome = { result: SqlQuery; ms: number; ran: string } | { error: string } | undefined

export function SqlView() {
  const text = useValue(query)
  const schema = useLoaded((signal) => ask('sqlSchema', {}, signal), [])
  const field = useRef<HTMLTextAreaElement>(null)
  const [cursor, setCursor] = useState(-1)
  const [isRunning, setRunning] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>(undefined)
  const [show, setShow] = useState<'table' | 'chart'>('table')
  useEffect(() => {
    document.title = `${texts.sql.title} · ${texts.name}`
  }, [])
  const candidates = cursor < 0 ? [] : completionsAt(text, cursor, schema.kind === 'ready' ? schema.data : undefined)

  async function run(given = text): Promise<void> {
    setRunning(true)
    setCursor(-1)
    const startMs = performance.now()
    try {
      const result = (await ask('sqlQuery', { query: given, format: 'json' })) as SqlQuery
      setOutcome({ result, ms: performance.now() - startMs, ran: given })
    } catch (error) {
      setOutcome({ error: reasonOf(error) })
    }
    setRunning(false)
  }

  function choose(candidate: string): void {
    const done = complete(text, cursor, candidate)
    query.set(done.text)
    setCursor(-1)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(done.cursor, done.cursor)
    })
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void run()
    } else if (event.key === 'Tab' && !event.shiftKey && candidates[0] !== undefined) {
      event.preventDefault()
      choose(candidates[0])
    } else if (event.key === 'Escape') setCursor(-1)
  }
  const words = texts.sql
  return (
    <div class="market">
      <h1>{words.title}</h1>
      <div class="market-grid">
        <div class="market-main">
          <section class="panel editor" aria-label={words.editor}>
            <textarea
              {...{ ref: field, 'aria-label': words.editor, rows: 9, spellcheck: false, value: text, onKeyDown }}
              onInput={({ currentTarget }) => {
                query.set(currentTarget.value)
                setCursor(currentTarget.selectionStart)
              }}
              onBlur={() => setTimeout(() => setCursor(-1), 200)}
            />
            <div class="filters">
              <button type="button" class="primary" disabled={isRunning} onClick={() => void run()}>
                {isRunning ? words.running : words.run}
              </button>
              <select
                aria-label={words.samples}
                value=""
                onChange={({ currentTarget }) => {
                  const sample = samples.find(({ title }) => title === currentTarget.value)
                  if (sample === undefined) return
                  query.set(sample.query)
                  void run(sample.query)
                }}
              >
                <option value="">{words.samples}</option>
                {samples.map(({ title }) => (
                  <option key={title} value={title}>
                    {title}
                  </option>
                ))}
              </select>
              {candidates.length === 0 ? (
                <span class="soft">{words.keys}</span>
              ) : (
                <ul class="candidates" aria-label={words.completions}>
                  {candidates.map((candidate) => (
                    <li key={candidate}>
                      <button type="button" class="mono" onClick={() => choose(candidate)}>
                        {candidate}
                      </button>
                    </li>
                  ))}
                </ul>
              )}
            </div>
          </section>
          <Panel
            title={words.result}
            aside={
              <Choices<'table' | 'chart'>
                label={words.show}
                value={show}
                onChoose={setShow}
                options={[
                  { value: 'table', label: words.table },
                  { value: 'chart', label: words.chart },
                ]}
              />
            }
          >
            <Result outcome={outcome} show={show} />
          </Panel>
        </div>
        <aside class="market-side">
          <Panel title={words.schema}>
            <Await of={schema} rows={10}>
              {({ views }) => (
                <div class="schema">
                  {views.map((view) => (
                    <details key={view.name}>
                      <summary>
                        <b class="mono">{view.name}</b> <span class="soft">{view.summary}</span>
                      </summary>
                      <dl>
                        {view.columns.map((column) => (
                          <div key={column.name} title={`${column.type}: ${column.description}`}>
                            <dt class="mono">{column.name}</dt>
                            <dd class="soft">{column.description}</dd>
                          </div>
                        ))}
                      </dl>
                    </details>
                  ))}
                </div>
              )}
            </Await>
          </Panel>
        </aside>
      </div>
    </div>
  )
}

function Result({ outcome, show }: { outcome: Outcome; show: 'table' | 'chart' }) {
  const words = texts.sql
  if (outcome === undefined) return <Empty>{words.first}</Empty>
  if ('error' in outcome)
    return (
      <p class="empty down" role="alert">
        {outcome.error}
      </p>
    )
  const { result, ms, ran } = outcome
  const drawing = drawingOf(result)
  return (
    <>
      <div class="filters">
        <span class="soft num" role="status">
          {words.rows(whole(result.rows), whole(ms))}
          {result.data.length > SHOWN && `, ${words.shown(whole(SHOWN))}`}
        </span>
        <Export query={ran} />
      </div>
      {result.rows === 0 ? (
        <Empty>{words.noRows}</Empty>
      ) : show === 'table' ? (
        <Table result={result} />
      ) : drawing === undefined ? (
        <Empty>{words.noChart}</Empty>
      ) : (
        <Chart drawing={drawing} />
      )}
    </>
  )
}

function Table({ result: { meta, data } }: { result: SqlQuery }) {
  return (
    <ScrollRows label={texts.sql.result}>
      <table class="rows">
        <thead>
          <tr>
            {meta.map(({ name, type }) => (
              <th key={name} title={type} class={isFigure(type) ? 'figure' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.slice(0, SHOWN).map((row, index) => (
            <tr key={index}>
              {meta.map(({ name, type }) => (
                <td key={name} class={`num ${isFigure(type) ? 'figure' : ''}`}>
                  {textOf(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRows>
  )
}

const isFigure = (type: string): boolean => /Int|Float|Decimal/.test(type)

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function Chart({ drawing: { labels, name, values, isTime } }: { drawing: Drawing }) {
  if (isTime)
    return (
      <figure class="history quick">
        <figcaption class="soft num">
          {name}: {labels[0]} – {labels.at(-1)}
        </figcaption>
        <svg viewBox="0 0 240 44" preserveAspectRatio="none" role="img" aria-label={name}>
          <path class="line" d={linePath(values, 240, 44, 2)} fill="none" vector-effect="non-scaling-stroke" />
        </svg>
      </figure>
    )
  const most = Math.max(...values.slice(0, BARS).map(Math.abs))
  return (
    <ul class="quick-bars" aria-label={name}>
      {labels.slice(0, BARS).map((label, index) => (
        <li key={`${label} ${index}`}>
          <span class="mono" title={label}>
            {label}
          </span>
          <i style={{ width: `${(Math.abs(values[index] ?? 0) / most) * 100}%` }} />
          <span class="num">{short(values[index])}</span>
        </li>
      ))}
    </ul>
  )
}

/** Of the query whose result is shown: the editor may hold another one by now. */
function Export({ query: ran }: { query: string }) {
  const words = texts.sql
  const [error, setError] = useState('')
  const [running, setRunning] = useState<Format | undefined>(undefined)
  async function run(format: Format): Promise<void> {
    setRunning(format)
    setError('')
    try {
      await exportResult(ran, format)
    } catch (failure) {
      setError(reasonOf(failure))
    }
    setRunning(undefined)
  }
  return (
    <div class="export">
      <span class="soft">{words.export}</span>
      <fieldset class="choices" aria-label={words.export}>
        {FORMATS.map((format) => (
          <button key={format} type="button" disabled={running !== undefined} onClick={() => void run(format)}>
            {words.formats[format]}
          </button>
        ))}
      </fieldset>
      {error !== '' && (
        <span class="down" role="alert">
          {error}
        </span>
      )}
    </div>
  )
}

async function exportResult(ran: string, format: Format): Promise<void> {
  const { data } = await client().call('exportFile', { query: ran, format })
  const file = new Blob([data])
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `result.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
