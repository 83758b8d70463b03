/**
 * @shared-process Only the text of a program listens to its exit.
 */
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { ConfigError, DextapeError } from '../../../services/core/domain/errors.js'
import { abortOf, createBackoff, sleep, withRetry } from '../../../services/core/runtime/backoff.js'
import { type Logger, silentLogger } from '../../../services/core/runtime/logger.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { checkPortFree } from '../../../services/core/runtime/ports.js'
import { runMain } from '../../../services/core/runtime/run-main.js'
import { createShutdown } from '../../../services/core/runtime/shutdown.js'

const never = new AbortController().signal

describe('run-main', () => {
  async function end(main: () => Promise<number | undefined>) {
    const printed: string[] = []
    const codes: number[] = []
    await runMain(main, { stderr: (text) => printed.push(text), exit: (code) => codes.push(code) })
    return { printed: printed.join(''), codes }
  }
  const fails = (error: unknown) => async () => {
    throw error
  }

  it('returns the exit code, 0 by default', async () => {
    expect(await end(async () => undefined)).toEqual({ printed: '', codes: [0] })
    expect(await end(async () => 3)).toEqual({ printed: '', codes: [3] })
  })

  it('prints a configuration error as one message and exits with 78', async () => {
    const error = new ConfigError({ code: 'c', what: 'bad port', fix: 'Choose another.' })
    expect(await end(fails(error))).toEqual({ printed: 'dextape: bad port. Choose another.\n', codes: [78] })
  })

  it('prints the stack of unexpected errors only, and exits with 1', async () => {
    const foreseen = await end(fails(new DextapeError({ code: 'c', what: 'no such topic' })))
    expect(foreseen).toEqual({ printed: 'dextape: no such topic\n', codes: [1] })
    const unforeseen = await end(fails(new TypeError('x is not a function')))
    expect(unforeseen.codes).toEqual([1])
    expect(unforeseen.printed).toMatch(/TypeError: x is not a function\n\s+at /)
  })
})

describe('back-off', () => {
  it('waits at random below a ceiling that doubles up to a limit, and resets after a success', async () => {
    const backoff = createBackoff({ firstMs: 100, maxMs: 1000, random: () => 0.5, sleep: async () => {} })
    const waits: number[] = []
    for (let i = 0; i < 6; i++) waits.push(await backoff.wait(never))
    expect(waits).toEqual([50, 100, 200, 400, 500, 500])
    backoff.reset()
    expect(await backoff.wait(never)).toBe(50)
  })

  it('retries only errors that a retry can fix', async () => {
    const quick = createBackoff({ sleep: async () => {} })
    let calls = 0
    const retried: number[] = []
    const call = async () => {
      if (++calls < 3) throw new DextapeError({ code: 'away', what: 'away', retry: true })
      return 'done'
    }
    expect(await withRetry(call, quick, never, (_, attempt) => retried.push(attempt))).toBe('done')
    expect(retried).toEqual([1, 2])
    const broken = async () => {
      throw new DextapeError({ code: 'broken', what: 'broken' })
    }
    await expect(withRetry(broken, quick, never, () => {})).rejects.toThrow('broken')
  })

  it('ends during a wait when the signal aborts', async () => {
    const stop = new AbortController()
    const waiting = sleep(1_000_000, stop.signal)
    stop.abort()
    await waiting
    const call = async () => {
      throw new DextapeError({ code: 'away', what: 'away', retry: true })
    }
    expect(await withRetry(call, createBackoff(), stop.signal, () => {})).toBeUndefined()
  })
})

describe('shutdown', () => {
  function setUp(forceAfterMs?: number, logger: Logger = silentLogger) {
    const signals = new EventEmitter()
    const end = vi.fn()
    return { signals, end, shutdown: createShutdown(logger, { signals, end }, forceAfterMs) }
  }

  it('aborts at the first signal and exits at the second', () => {
    const { signals, end, shutdown } = setUp()
    signals.emit('SIGTERM')
    expect([shutdown.signal.aborted, shutdown.signal.reason]).toEqual([true, 'SIGTERM'])
    expect(end).not.toHaveBeenCalled()
    signals.emit('SIGINT')
    expect(end).toHaveBeenCalledTimes(1)
    shutdown.done()
    expect(signals.listenerCount('SIGTERM') + signals.listenerCount('SIGINT')).toBe(0)
  })

  it('exits when a stop takes too long, and says what it waits for', async () => {
    const error = vi.fn()
    const { end, shutdown } = setUp(10, { ...silentLogger, error })
    void shutdown.awaiting('thread fold', abortOf(never))
    await shutdown.awaiting('thread rest', Promise.resolve())
    shutdown.stop('test')
    await expect.poll(() => end.mock.calls.length).toBe(1)
    expect(error.mock.calls).toEqual([
      ['stopping took too long, killing the process', { after_ms: 10, waiting_for: ['thread fold'] }],
    ])
  })

  it('does not exit when a stop finishes in time', async () => {
    const { end, shutdown } = setUp(10)
    shutdown.stop('test')
    shutdown.done()
    await sleep(30, never)
    expect(end).not.toHaveBeenCalled()
  })

  it('kills a process whose exit hangs', async () => {
    const shutdown = new URL('../../../dist/services/core/runtime/shutdown.js', import.meta.url)
    const hangs = `
      import { createShutdown } from ${JSON.stringify(String(shutdown))}
      const say = () => {}
      createShutdown({ debug: say, info: say, warn: say, error: say })
      process.on('exit', () => { for (;;); })
      setInterval(() => {}, 1000)
      console.log('ready')`
    const child = spawn(process.execPath, ['--input-type=module', '-e', hangs], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    child.kill('SIGINT')
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
})

describe('metrics', () => {
  it('are read at each scrape, and summed over all sources of a name', async () => {
    const metrics = createMetrics({ processMetrics: false })
    let blocks = 1
    metrics.counter({ name: 'dextape_x_total', help: 'X', labels: ['chain'] }, () => [
      { labels: { chain: 'eth' }, value: blocks },
    ])
    metrics.counter({ name: 'dextape_x_total', help: 'X', labels: ['chain'] }, () => [
      { labels: { chain: 'eth' }, value: 10 },
    ])
    metrics.gauge({ name: 'dextape_y_seconds', help: 'Y' }, () => [{ value: 2.5 }])
    blocks = 5
    for (let scrape = 0; scrape < 2; scrape++) {
      const lines = (await metrics.text()).split('\n')
      expect(lines).toContain('dextape_x_total{chain="eth"} 15')
      expect(lines).toContain('dextape_y_seconds 2.5')
    }
  })
})

describe('ports', () => {
  it('in use are reported with advice', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await expect(checkPortFree('127.0.0.1', port, 'DEXTAPE_HTTP_PORT')).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'port_in_use',
      message: `Port ${port} on 127.0.0.1 is already in use. Stop the process that listens on it, or choose another port with DEXTAPE_HTTP_PORT.`,
    })
    await new Promise((resolve) => server.close(resolve))
    await checkPortFree('127.0.0.1', port, 'DEXTAPE_HTTP_PORT')
  })
})
