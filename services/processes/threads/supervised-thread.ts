/** A thread of this process that is started again when it ends unexpectedly. */
import { Worker } from 'node:worker_threads'
import { createBackoff } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import { endWatchOf } from '../../core/runtime/watchdog.js'
import type { ThreadReport } from '../../serve/serve-deps.js'
import { type Link, type Methods, openLink } from './thread-link.js'

export type ThreadPlan<Theirs extends Methods> = {
  name: string
  /** The module it runs. */
  entry: URL
  /** What it starts with, as of now. */
  data: () => object
  /** What it may call here. */
  mine: Methods
  /** Brings it to work. A failure of the first start is the caller's; later ones are tried again. */
  begin: (link: Link<Theirs>, isAgain: boolean) => Promise<void>
  /** Largest size of the young generation of its heap. */
  youngMb: number
  onChange: () => void
  logger: Logger
}

export interface SupervisedThread<Theirs extends Methods> {
  /** Resolves once it works for the first time. */
  start(): Promise<void>
  /** To the running thread; while there is none, its calls fail. */
  readonly link: Link<Theirs>
  /** Asks it to close, then ends it. */
  stop(): Promise<void>
  report(): ThreadReport
}

/** What every thread answers. */
type StoppableMethods = { stop(): Promise<void> }

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000

export function superviseThread<Theirs extends Methods & StoppableMethods>(
  plan: ThreadPlan<Theirs>,
): SupervisedThread<Theirs> {
  const { name, logger, onChange } = plan
  const stopping = new AbortController()
  const backoff = createBackoff({ firstMs: FIRST_WAIT_MS, maxMs: LONGEST_WAIT_MS })
  const report: ThreadReport = { thread: name, restarts: 0, running: false, last_end: null }
  let running: { worker: Worker; link: Link<Theirs>; ended: Promise<void> } | undefined
  let isStarted = false

  async function run(isAgain: boolean): Promise<void> {
    const worker = new Worker(plan.entry, {
      ...{ name, workerData: { ...plan.data(), thread: name } },
      resourceLimits: { maxYoungGenerationSizeMb: plan.youngMb },
    })
    const link = openLink<Theirs>(worker, plan.mine)
    let reason: string | undefined
    worker.on('error', (error) => {
      reason = error.message
      logger.error('a thread has failed', { thread: name, error })
    })
    const ended = new Promise<void>((resolve) => {
      worker.on('exit', (code) => {
        endWatchOf(name)
        link.end(reason ?? `exit code ${code}`)
        running = undefined
        report.running = false
        resolve()
        if (isStarted && !stopping.signal.aborted) void restart(reason ?? `exit code ${code}`)
      })
    })
    running = { worker, link, ended }
    await plan.begin(link, isAgain)
    report.running = true
    onChange()
  }

  async function restart(reason: string): Promise<void> {
    report.last_end = reason
    onChange()
    logger.error('a thread has ended unexpectedly, starting it again', { thread: name, reason })
    await backoff.wait(stopping.signal)
    if (stopping.signal.aborted) return
    report.restarts += 1
    try {
      await run(true)
      backoff.reset()
    } catch (error) {
      if (stopping.signal.aborted) return
      logger.error('a thread cannot be started', { thread: name, error })
      // Its end starts the next attempt.
      await running?.worker.terminate()
    }
  }

  return {
    async start() {
      await run(false)
      isStarted = true
    },
    get link() {
      return running?.link ?? ended(name)
    },
    async stop() {
      stopping.abort()
      const last = running
      if (last === undefined) return
      await Promise.race([(last.link as Link<StoppableMethods>).call('stop').catch(() => {}), last.ended])
      await last.worker.terminate()
    },
    report: () => ({ ...report }),
  }
}

/** The link of a thread that does not run. */
function ended<Theirs extends Methods>(name: string): Link<Theirs> {
  const link = openLink<Theirs>({ postMessage: () => {}, on: () => {} }, {})
  link.end(`${name} is not running`)
  return link
}
