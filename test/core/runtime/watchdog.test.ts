/** The watchdog in real processes, and its rules with made-up ticks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'
import { warnNearMemoryLimits } from '../../../services/core/runtime/memory-limits.js'
import { createSilenceJudge } from '../../../services/core/runtime/silent-threads.js'
import { claimSlot, createWatchTable, watchedThreads } from '../../../services/core/runtime/watch-table.js'

const WATCHDOG = pathToFileURL(join(repositoryRoot(), 'dist/services/core/runtime/watchdog.js')).href
const LIMIT_MS = 2000

/** A program that watches its main thread. */
function run(program: string, nodeOptions: readonly string[] = []) {
  const watch = (name: string) =>
    `watchEventLoop({ name: '${name}', limitMs: ${LIMIT_MS}, logger: { warn: console.error } })`
  const source = [
    `import { endWatchOf, watchEventLoop } from '${WATCHDOG}'`,
    "import { Worker } from 'node:worker_threads'",
    // Without using the CPU, which the other tests need.
    'const block = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)',
    `const WORKER = \`import { watchEventLoop } from '${WATCHDOG}'; ${watch('pushes')}; const cell = new Int32Array(new SharedArrayBuffer(4)); setTimeout(() => Atomics.wait(cell, 0, 0), 50)\``,
    watch('main'),
    program,
  ].join('\n')
  const child = spawn(process.execPath, [...nodeOptions, '--input-type=module', '-e', source], {
    env: { PATH: process.env.PATH },
  })
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], out, err]) => ({ code, signal, out, err }),
  )
  return { child, ended }
}

const killed = (thread: string) => ({
  ...{ code: null, signal: 'SIGKILL' },
  err: `dextape: the event loop of thread "${thread}" has not run for 2 s; killing the process so that its supervisor restarts it (DEXTAPE_WATCHDOG_S)\n`,
})

describe('a process', () => {
  it('whose main thread stands still is killed, with the reason', async () => {
    expect(await run('setTimeout(block, 50, 60_000)').ended).toMatchObject(killed('main'))
  }, 30_000)

  it('of which another thread stands still is killed, with its name', async () => {
    const worker = "new Worker(new URL('data:text/javascript,' + encodeURIComponent(WORKER)))"
    expect(await run(worker).ended).toMatchObject(killed('pushes'))
  }, 30_000)

  it('of which another thread was ended continues', async () => {
    const program = [
      "const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(WORKER)))",
      "worker.on('exit', () => endWatchOf('pushes'))",
      'setTimeout(() => worker.terminate(), 1000)',
      "setTimeout(() => console.log('done'), 5000)",
    ].join('\n')
    expect(await run(program).ended).toEqual({ code: 0, signal: null, out: 'done\n', err: '' })
  }, 30_000)

  it('that is busy for less than the limit continues, and is not kept alive by its watchdog', async () => {
    const busy = "setTimeout(() => { block(500); setTimeout(() => console.log('done'), 2500) }, 50)"
    expect(await run(busy).ended).toEqual({ code: 0, signal: null, out: 'done\n', err: '' })
  }, 30_000)

  it('that was suspended as a whole continues', async () => {
    const { child, ended } = run("console.log('started'); setTimeout(() => console.log('done'), 1000)")
    await once(child.stdout, 'data')
    child.kill('SIGSTOP')
    await sleep(LIMIT_MS * 2)
    child.kill('SIGCONT')
    expect(await ended).toMatchObject({ code: 0, out: 'started\ndone\n' })
  }, 30_000)

  it('under a debugger is not killed', async () => {
    const { ended } = run('setTimeout(() => block(4000), 1000)', ['--inspect=127.0.0.1:0'])
    expect(await ended).toMatchObject({ code: 0, signal: null })
  }, 30_000)
})

describe('silence', () => {
  const thread = (ticks: number, isDebugged = false) => [
    { slot: 0, name: 'main', ticks, limitMs: 3000, isDebugged },
    { slot: 20, name: 'other', ticks: ticks + 1, limitMs: 9000, isDebugged: false },
  ]

  it('counts from the last tick, and only while the watcher runs', () => {
    const judge = createSilenceJudge(1000)
    const checks: [number, number][] = [
      ...([
        [1, 1000],
        [1, 1000],
        [1, 1000],
        [2, 1000],
      ] as [number, number][]),
      ...([
        [2, 3_600_000],
        [2, 900],
      ] as [number, number][]),
    ]
    for (const [ticks, elapsedMs] of checks) expect(judge.check(thread(ticks), elapsedMs)).toBeUndefined()
    expect(judge.check(thread(2), 100)).toMatchObject({ name: 'main', limitMs: 3000 })
  })

  it('starts again after a debugger', () => {
    const judge = createSilenceJudge(1000)
    for (let count = 0; count < 9; count++) expect(judge.check(thread(1, count > 2), 1000)).toBeUndefined()
    for (let count = 0; count < 2; count++) expect(judge.check(thread(1), 1000)).toBeUndefined()
    expect(judge.check(thread(1), 1000)).toMatchObject({ name: 'main' })
  })
})

it('gives a released slot to the next thread', () => {
  const table = createWatchTable()
  const slots = Array.from({ length: 64 }, (_, at) => claimSlot(table, `thread ${at}`, 1000))
  expect(claimSlot(table, 'one too many', 1000)).toBeUndefined()
  slots[3]?.release()
  expect(watchedThreads(table)).toHaveLength(63)
  claimSlot(table, 'the next', 2000)?.tick(true)
  expect(watchedThreads(table)[3]).toMatchObject({ name: 'the next', limitMs: 2000, isDebugged: true })
})

it('warns once when memory comes close to its limit, and again after it was fine', async () => {
  const lines: unknown[] = []
  const ended = new AbortController()
  const used = [50, 91, 95, 79, 92, 92, 92]
  await new Promise<void>((resolve) => {
    const read = () => {
      const usedMb = used.shift()
      if (usedMb === undefined) resolve()
      return usedMb === undefined ? undefined : { usedBytes: usedMb * 1_048_576, limitBytes: 104_857_600 }
    }
    const limits = [{ what: 'heap', fix: 'Raise it.', read }]
    warnNearMemoryLimits(limits, { warn: (_message, fields) => lines.push(fields) }, ended.signal, 1)
  })
  ended.abort()
  expect(lines).toEqual([91, 92].map((used_mb) => ({ what: 'heap', used_mb, limit_mb: 100, fix: 'Raise it.' })))
})
