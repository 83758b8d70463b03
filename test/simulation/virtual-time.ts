/**
 * A clock that jumps from one timer to the next. While it is installed, every timer, `Date.now`, `performance.now` and
 * `Math.random` of this process are simulated: the same seed gives the same run, to the last await.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Random } from '../rig/market/random.js'

/** What a simulated process runs in: once it is dead, its timers no longer fire and nothing it awaits comes back. */
export type Life = { isAlive: boolean }

export type VirtualTime = {
  nowMs(): number
  /** Runs `work` as part of a process: every timer it starts, also later, belongs to that process. */
  within<T>(life: Life, work: () => T): T
  delay(ms: number): Promise<void>
  /** Fires timers until `isDone`; false if it is still not done after `limitMs` of simulated time. */
  run(isDone: () => boolean, limitMs: number): Promise<boolean>
  uninstall(): void
}

type Timer = { atMs: number; order: number; everyMs: number | null; life: Life | undefined; work: () => void }

/** 2026-01-01: blocks of the market have times of their own. */
const START_MS = 1_767_225_600_000
const ALWAYS: Life = { isAlive: true }

export function installVirtualTime(random: Random): VirtualTime {
  const real = {
    ...{ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate },
    ...{ dateNow: Date.now, performanceNow: performance.now, random: Math.random },
    promises: { setTimeout: timersPromises.setTimeout, setImmediate: timersPromises.setImmediate },
  }
  const lives = new AsyncLocalStorage<Life>()
  const waiting = createQueue()
  let nowMs = START_MS
  let order = 0

  function start(work: () => void, ms: number, everyMs: number | null): Timer {
    const timer: Timer = { atMs: nowMs + Math.max(0, ms), order: order++, everyMs, life: lives.getStore(), work }
    waiting.add(timer)
    return timer
  }

  function handleOf(timer: Timer): object {
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => false, timer }
    return handle
  }

  function stop(handle: unknown): void {
    if (typeof handle === 'object' && handle !== null && 'timer' in handle) waiting.drop(handle.timer as Timer)
  }

  type Callback = (...given: unknown[]) => void
  const set = (work: Callback, ms = 0, ...given: unknown[]) => handleOf(start(() => work(...given), ms, null))
  const repeat = (work: Callback, ms = 1, ...given: unknown[]) =>
    handleOf(start(() => work(...given), ms, Math.max(1, ms)))
  const soon = (work: Callback, ...given: unknown[]) => handleOf(start(() => work(...given), 0, null))

  function delay(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = () => {
        waiting.drop(timer)
        reject(signal?.reason)
      }
      const timer = start(
        () => {
          signal?.removeEventListener('abort', fail)
          resolve()
        },
        ms,
        null,
      )
      if (signal?.aborted) fail()
      else signal?.addEventListener('abort', fail, { once: true })
    })
  }

  Object.assign(globalThis, {
    ...{ setTimeout: set, setInterval: repeat, setImmediate: soon },
    ...{ clearTimeout: stop, clearInterval: stop, clearImmediate: stop },
  })
  Date.now = () => nowMs
  performance.now = () => nowMs - START_MS
  Math.random = random.next
  Object.assign(timersPromises, {
    setTimeout: (ms: number, value?: unknown, options?: { signal?: AbortSignal }) =>
      delay(ms, options?.signal).then(() => value),
    setImmediate: (value?: unknown, options?: { signal?: AbortSignal }) => delay(0, options?.signal).then(() => value),
  })
  syncBuiltinESMExports()

  /** Every promise that can settle has: nothing here waits for the outside. */
  const settle = () => new Promise<void>((resolve) => real.setImmediate(resolve))

  function fire(timer: Timer): void {
    nowMs = Math.max(nowMs, timer.atMs)
    if (timer.life?.isAlive === false) return
    if (timer.everyMs !== null) {
      timer.atMs = nowMs + timer.everyMs
      timer.order = order++
      waiting.add(timer)
    }
    lives.run(timer.life ?? ALWAYS, timer.work)
  }

  return {
    nowMs: () => nowMs,
    within: (life, work) => lives.run(life, work),
    delay,
    async run(isDone, limitMs) {
      const untilMs = nowMs + limitMs
      for (;;) {
        await settle()
        if (isDone()) return true
        const next = waiting.take()
        if (next === undefined || next.atMs > untilMs) return false
        fire(next)
      }
    },
    uninstall() {
      const { dateNow, performanceNow, random: realRandom, promises, ...timers } = real
      Object.assign(globalThis, timers)
      Date.now = dateNow
      performance.now = performanceNow
      Math.random = realRandom
      Object.assign(timersPromises, promises)
      syncBuiltinESMExports()
    },
  }
}

/** Timers by time, those of the same time in the order they were started: a binary heap. */
function createQueue() {
  const heap: Timer[] = []
  const dropped = new WeakSet<Timer>()
  const isBefore = (a: Timer, b: Timer) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
  const at = (index: number) => heap[index] as Timer

  function swap(a: number, b: number): void {
    const kept = at(a)
    heap[a] = at(b)
    heap[b] = kept
  }

  function sink(): void {
    for (let index = 0; ; ) {
      let first = index
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < heap.length && isBefore(at(child), at(first))) first = child
      }
      if (first === index) return
      swap(index, first)
      index = first
    }
  }

  function takeFirst(): Timer | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) {
      heap[0] = last
      sink()
    }
    return first
  }

  return {
    add(timer: Timer): void {
      heap.push(timer)
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (!isBefore(at(index), at(parent))) return
        swap(index, parent)
        index = parent
      }
    },
    drop: (timer: Timer) => void dropped.add(timer),
    take(): Timer | undefined {
      for (;;) {
        const first = takeFirst()
        if (first === undefined || !dropped.has(first)) return first
      }
    },
  }
}
