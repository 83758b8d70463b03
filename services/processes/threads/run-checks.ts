/** Checks the data directory for damage from time to time, in a thread that lives only as long as a check. */
import { Worker } from 'node:worker_threads'
import type { Config } from '../../core/config/index.js'
import type { LogFormat, Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import { endWatchOf } from '../../core/runtime/watchdog.js'
import type { CheckMethods, FoundDamage } from './check-thread.js'
import { openLink } from './thread-link.js'

type CheckData = { config: Config; dataDir: string; logFormat: LogFormat }

/** Returns how to stop it. */
export function runChecks(
  data: CheckData,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
  repair: (found: FoundDamage) => Promise<void>,
): () => Promise<void> {
  const { checkMs } = data.config.intervals
  let [checks, damages] = [0, 0]
  const count = (value: () => number) => () => [{ labels: {}, value: value() }]
  metrics.counter(
    { name: 'dextape_checks_total', help: 'Checks of the data directory for damage', labels: [] },
    count(() => checks),
  )
  metrics.counter(
    { name: 'dextape_damages_total', help: 'Damages that these checks found', labels: [] },
    count(() => damages),
  )
  let worker: Worker | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  async function check(): Promise<void> {
    worker = new Worker(new URL('./check-thread.js', import.meta.url), {
      ...{ name: 'check', workerData: { ...data, thread: 'check' } },
    })
    const link = openLink<CheckMethods>(worker, {})
    worker.on('error', (error) => link.end(error.message))
    worker.on('exit', (code) => {
      endWatchOf('check')
      link.end(`exit code ${code}`)
    })
    try {
      const found = await link.call('check')
      await link.call('stop')
      for (const one of found) await repair(one)
      checks += 1
      damages += found.length
      logger.info('data directory checked', { damage: found.length })
    } catch (error) {
      if (!isStopped) logger.warn('checking the data directory failed', { error })
    } finally {
      await worker.terminate()
      worker = undefined
    }
  }

  function plan(): void {
    if (isStopped || checkMs === 0) return
    timer = setTimeout(() => void check().then(plan), checkMs).unref()
  }

  plan()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await worker?.terminate()
  }
}
