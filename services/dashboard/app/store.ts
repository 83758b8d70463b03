/** Values that views watch. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export type Value<T> = {
  get(): T
  set(next: T): void
  subscribe(listener: () => void): () => void
}

export function createValue<T>(initial: T): Value<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** A value that the browser keeps. */
export function createStoredValue<T>(name: string, initial: T): Value<T> {
  const value = createValue(readStored(name, initial))
  value.subscribe(() => localStorage.setItem(name, JSON.stringify(value.get())))
  return value
}

function readStored<T>(name: string, initial: T): T {
  try {
    const text = localStorage.getItem(name)
    return text === null ? initial : (JSON.parse(text) as T)
  } catch {
    return initial
  }
}

export function useValue<T>(value: Value<T>): T {
  const [, redraw] = useState(0)
  const current = value.get()
  useLayoutEffect(() => {
    const changed = () => redraw((count) => count + 1)
    // It may have changed between drawing and here.
    if (!Object.is(value.get(), current)) changed()
    return value.subscribe(changed)
  }, [value])
  return current
}

export type Loaded<T> = { kind: 'loading' } | { kind: 'failed'; error: unknown } | { kind: 'ready'; data: T }

/** Loads when `deps` change, and again on `reload`. While it loads again, or if that fails, the data stays. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): Loaded<T> & { reload(): void } {
  const [state, setState] = useState<Loaded<T>>({ kind: 'loading' })
  const [turn, setTurn] = useState(0)
  const known = useRef<readonly unknown[]>([])
  useEffect(() => {
    const ending = new AbortController()
    if (known.current.some((one, at) => one !== deps[at])) setState({ kind: 'loading' })
    known.current = deps
    load(ending.signal).then(
      (data) => ending.signal.aborted || setState({ kind: 'ready', data }),
      (error) =>
        ending.signal.aborted || setState((old) => (old.kind === 'ready' ? old : { kind: 'failed' as const, error })),
    )
    return () => ending.abort()
  }, [...deps, turn])
  return { ...state, reload: () => setTurn((count) => count + 1) }
}

/** Calls it every so often while the view is open and the page is visible. */
export function useEvery(ms: number, act: () => void, deps: readonly unknown[] = []): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms, ...deps])
}

/** Calls `act` at most once per frame, however often it is asked for. */
export function oncePerFrame(act: () => void): () => void {
  let isAsked = false
  return () => {
    if (isAsked) return
    isAsked = true
    // A hidden page draws no frames.
    const run = () => {
      isAsked = false
      act()
    }
    if (document.hidden) setTimeout(run, 250)
    else requestAnimationFrame(run)
  }
}
