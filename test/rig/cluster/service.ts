/** One process of a cluster as an operator starts it: killed, frozen and started again, with what it wrote kept. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEXTAPE, NODE_FLAGS } from '../http/command.js'
import { samplesOf } from '../metrics-samples.js'

/** Each question costs the processes under test CPU that all others lack. */
const POLL_MS = 150
const ANSWER_WITHIN_MS = 5000
/** So late only where it never comes: a busy machine is no failure. */
const GIVE_UP_MS = 300_000
const KEPT_LINES = 20_000

export type ServicePlan = {
  /** As in `aggregate-2`. */
  name: string
  command: 'ingest' | 'aggregate' | 'serve'
  args?: readonly string[]
  folder: string
  env: Record<string, string>
  /** In place of this checkout's command. */
  program?: string
  /** Of its REST or operations interface; the same after a restart. */
  httpPort: number
}

export type LogLine = { level: string; message: string } & Record<string, unknown>

export type Service = {
  readonly name: string
  readonly pid: number
  readonly rest: string
  /** Also from a running one; `args` in place of those before. Does not wait for it to be ready. */
  restart(args?: readonly string[]): Promise<void>
  /** Stops it by SIGTERM and starts another program in its place; the exit code of the first. */
  replaceBy(program: string): Promise<number | null>
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>
  /** How it ended, where nobody asked it to. */
  fallen(): string | undefined
  isReady(): Promise<boolean>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** By name with labels, as `dextape_fold_seq{chain="eth"}`; empty while it does not answer. */
  metrics(): Promise<Map<string, number>>
  /** What all its runs logged, oldest first. */
  logged(): LogLine[]
  /** Asks again until the answer is yes; fails when the process ended by itself, or too late, with what it wrote. */
  until(what: string, check: () => Promise<boolean>, withinMs?: number): Promise<void>
  tail(lines: number): string
}

type Run = { child: ChildProcess; ended: Promise<void> }

export function startService({ name, command, folder, env, httpPort, ...plan }: ServicePlan): Service {
  const lines: string[] = []
  const rest = `http://127.0.0.1:${httpPort}`
  let args = plan.args ?? []
  let program = plan.program ?? DEXTAPE
  let fall: string | undefined
  /** Whose end was asked for. */
  let expected: ChildProcess | undefined
  let run = launch()

  function launch(): Run {
    const child = spawn(process.execPath, ['--max-semi-space-size=32', ...NODE_FLAGS, program, command, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env, DEXTAPE_HTTP_PORT: String(httpPort) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', linesOf(keep))
    const guard = guardOf(child)
    const ended = new Promise<void>((resolve) => {
      child.once('close', (code, signal) => {
        keep(`(pid ${child.pid} ended: ${code ?? signal})`)
        // A source that is played to its end is done.
        const isDone = command === 'ingest' && code === 0
        if (expected !== child && !isDone) fall ??= `${name} ended by itself (${code ?? signal})`
        guard.kill('SIGKILL')
        resolve()
      })
    })
    keep(`(pid ${child.pid} started)`)
    return { child, ended }
  }

  function keep(line: string): void {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.splice(0, KEPT_LINES / 2)
  }

  function signal(how: NodeJS.Signals): void {
    if (!hasEnded(run.child)) run.child.kill(how)
  }

  async function end(how: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    expected = run.child
    signal(how)
    await run.ended
  }

  async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${rest}${path}`, { headers, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  }

  async function until(what: string, check: () => Promise<boolean>, withinMs = GIVE_UP_MS): Promise<void> {
    const deadline = Date.now() + withinMs
    while (!(await check().catch(() => false))) {
      if (fall !== undefined) throw new Error(`${fall} before ${what}\n${tail(60)}`)
      if (Date.now() > deadline) throw new Error(`${name}: not within ${withinMs} ms: ${what}\n${tail(60)}`)
      await sleep(POLL_MS)
    }
  }

  const tail = (count: number) => lines.slice(-count).join('\n')

  return {
    name,
    rest,
    get pid() {
      return run.child.pid ?? 0
    },
    async restart(given) {
      await end('SIGKILL')
      args = given ?? args
      run = launch()
    },
    async replaceBy(other) {
      await end('SIGTERM')
      const { exitCode } = run.child
      program = other
      run = launch()
      return exitCode
    },
    kill: () => end('SIGKILL'),
    pause: async () => signal('SIGSTOP'),
    resume: async () => signal('SIGCONT'),
    async stop() {
      await end('SIGTERM')
      return run.child.exitCode
    },
    fallen: () => fall,
    get,
    isReady: async () => (await get('/ready').catch(() => undefined))?.status === 200,
    async metrics() {
      const text = await get('/metrics').then(
        (response) => response.text(),
        () => '',
      )
      return samplesOf(text)
    },
    logged: () => lines.flatMap((line) => parsed(line) ?? []),
    until,
    tail,
  }
}

/** Kills the service when this process is gone, however it went: a frozen service cannot see to that itself. */
function guardOf(child: ChildProcess): ChildProcess {
  const script = 'while read -r _; do :; done; kill -9 "$0"'
  return spawn('sh', ['-c', script, String(child.pid)], { stdio: ['pipe', 'ignore', 'ignore'] })
}

function linesOf(take: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const whole = (rest + text).split('\n')
    rest = whole.pop() ?? ''
    for (const line of whole) take(line)
  }
}

function parsed(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return undefined
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
