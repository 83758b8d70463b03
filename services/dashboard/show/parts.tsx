/** Small parts that every view uses. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { reasonOf } from '../app/session.js'
import { clock, isMotionReduced } from '../app/settings.js'
import { type Loaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { dateTime, directionOf, type Figure, percent, priceUsd, shortAddress, span, toNumber } from './format.js'

export function Change({ value }: { value: Figure }) {
  return <span class={`num ${directionOf(value)}`}>{percent(value)}</span>
}

/** A price that flashes when it moves. */
export function LivePrice({ value }: { value: Figure }) {
  const cell = useRef<HTMLSpanElement>(null)
  const before = useRef(toNumber(value))
  const now = toNumber(value)
  useEffect(() => {
    const moved = now - before.current
    before.current = now
    if (!Number.isFinite(moved) || moved === 0) return
    flash(cell.current, moved > 0 ? 'up' : 'down')
  }, [now])
  return (
    <span class="num price" ref={cell}>
      {priceUsd(value)}
    </span>
  )
}

/** By the animation interface: a class that is set again would need the layout of the page in between. */
function flash(element: HTMLElement | null, tone: 'up' | 'down'): void {
  if (element === null || document.hidden || isMotionReduced()) return
  const colours = { backgroundColor: `var(--${tone}-wash)`, color: `var(--${tone})` }
  element.animate([{ offset: 0, ...colours }], { duration: 900, easing: 'ease-out' })
}

/** A mark made from the address: two tokens of one symbol look different. */
export function Avatar({ id, label, size = 22 }: { id: string; label: string; size?: number }) {
  let hash = 2166136261
  for (const character of id) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619)
  const hue = (hash >>> 0) % 360
  const turn = (hash >>> 9) % 360
  return (
    <span
      class="avatar"
      aria-hidden="true"
      style={{
        ...{ width: `${size}px`, height: `${size}px`, fontSize: `${Math.round(size * 0.42)}px` },
        background: `linear-gradient(${turn}deg, hsl(${hue} 42% 32%), hsl(${(hue + 70) % 360} 46% 24%))`,
      }}
    >
      {[...label].slice(0, 2).join('')}
    </span>
  )
}

export function Copy({ text, what }: { text: string; what: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async (event: MouseEvent) => {
    event.preventDefault()
    event.stopPropagation()
    await navigator.clipboard?.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1200)
  }
  return (
    <button type="button" class="icon copy" aria-label={texts.copy(what)} title={texts.copy(what)} onClick={copy}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        {isDone ? (
          <path d="M3 8.5 6.5 12 13 4.5" fill="none" stroke="currentColor" stroke-width="1.8" />
        ) : (
          <path
            d="M5.5 5.5h7v7h-7zM3.5 10.5v-7h7"
            fill="none"
            stroke="currentColor"
            stroke-width="1.3"
            stroke-linejoin="round"
          />
        )}
      </svg>
    </button>
  )
}

export function Address({ address, href, what }: { address: string; href?: string; what: string }) {
  return (
    <span class="address">
      {href === undefined ? (
        <span class="mono" title={address}>
          {shortAddress(address)}
        </span>
      ) : (
        <a class="mono" href={href} title={address}>
          {shortAddress(address)}
        </a>
      )}
      <Copy text={address} what={what} />
    </span>
  )
}

/** Age against the chain's time, exact time on hover. */
export function Age({ timeS, nowS }: { timeS: number; nowS: number }) {
  const isLocal = useValue(clock) === 'local'
  return (
    <time class="num soft" title={dateTime(timeS, isLocal)}>
      {timeS <= 0 ? '–' : span(nowS - timeS)}
    </time>
  )
}

export function When({ timeS }: { timeS: number }) {
  const isLocal = useValue(clock) === 'local'
  return <time class="num">{dateTime(timeS, isLocal)}</time>
}

export type Choice<T extends string> = { value: T; label: string; title?: string }

export function Choices<T extends string>(given: {
  label: string
  options: readonly Choice<T>[]
  value: T
  onChoose: (value: T) => void
}) {
  return (
    <fieldset class="choices" aria-label={given.label}>
      {given.options.map(({ value, label, title }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === given.value}
          {...(title === undefined ? {} : { title })}
          onClick={() => given.onChoose(value)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}

/** Points of a small line; NaN is left out. */
export function linePath(values: readonly number[], width: number, height: number, margin = 1.5): string {
  const known = values.filter(Number.isFinite)
  if (known.length < 2) return ''
  const low = Math.min(...known)
  const range = Math.max(...known) - low
  const step = width / (values.length - 1)
  return values
    .map((value, at) => {
      if (!Number.isFinite(value)) return ''
      const y =
        range === 0
          ? low === 0
            ? height - margin
            : height / 2
          : margin + (1 - (value - low) / range) * (height - 2 * margin)
      return `${(at * step).toFixed(1)} ${y.toFixed(1)}`
    })
    .filter((point) => point !== '')
    .map((point, at) => `${at === 0 ? 'M' : 'L'}${point}`)
    .join('')
}

export function Sparkline({
  values,
  width = 92,
  height = 26,
}: {
  values: readonly number[]
  width?: number
  height?: number
}) {
  const first = values.find(Number.isFinite) ?? 0
  const tone = directionOf((values.at(-1) ?? 0) - first)
  return (
    <svg class={`spark ${tone}`} viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path d={linePath(values, width, height)} fill="none" stroke="currentColor" stroke-width="1.3" />
    </svg>
  )
}

/** A line with its area, its last value and its range. */
export function History(given: {
  label: string
  values: readonly number[]
  format: (value: number) => string
  tone?: string
}) {
  const { label, values, format, tone = 'plain' } = given
  const path = linePath(values, 240, 44, 3)
  const last = values.at(-1) ?? Number.NaN
  return (
    <figure class={`history ${tone}`}>
      <figcaption>
        <span class="soft">{label}</span> <b class="num">{Number.isFinite(last) ? format(last) : '–'}</b>
      </figcaption>
      <svg viewBox="0 0 240 44" preserveAspectRatio="none" aria-hidden="true">
        {path !== '' && <path class="area" d={`${path}L240 44L${/^M(\S+)/.exec(path)?.[1]} 44Z`} />}
        <path class="line" d={path} fill="none" vector-effect="non-scaling-stroke" />
      </svg>
    </figure>
  )
}

/** What a view shows while it loads, or if it failed; else its content. */
export function Await<T>(given: {
  of: Loaded<T> & { reload(): void }
  rows?: number
  children: (data: T) => ComponentChildren
}) {
  const { of, rows = 6, children } = given
  if (of.kind === 'ready') return <>{children(of.data)}</>
  if (of.kind === 'loading') return <Skeleton rows={rows} />
  return <Failed error={of.error} onRetry={of.reload} />
}

export function Skeleton({ rows }: { rows: number }) {
  return (
    <div class="skeleton" role="status" aria-label={texts.loading}>
      {Array.from({ length: rows }, (_, at) => (
        <i key={at} style={{ width: `${92 - ((at * 17) % 45)}%` }} />
      ))}
    </div>
  )
}

export function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div class="empty" role="alert">
      <p>{reasonOf(error)}</p>
      <button type="button" onClick={onRetry}>
        {texts.retry}
      </button>
    </div>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty soft">{children}</p>
}

export function Panel(given: {
  title: string
  aside?: ComponentChildren
  class?: string
  children: ComponentChildren
}) {
  return (
    <section class={`panel ${given.class ?? ''}`} aria-label={given.title}>
      <header class="panel-head">
        <h2>{given.title}</h2>
        {given.aside}
      </header>
      {given.children}
    </section>
  )
}

/** A part that scrolls: reachable by keyboard, and named. Its panel is the landmark. */
export function ScrollRows({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll-rows" {...{ role: 'group', tabIndex: 0, 'aria-label': label }}>
      {children}
    </div>
  )
}

export function ChainMark({ chain }: { chain: string }) {
  return <span class={`chain chain-${chain}`}>{chain}</span>
}
