/** A server of a test's own that fails the way servers fail: killed, frozen, started again on what it left behind. */
import { type ChildProcess, spawn } from 'node:child_process'

export type KillableServer = {
  /** Of the process that serves; another one after a restart. */
  readonly pid: number
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>
  /** SIGSTOP: connections open, nothing is answered. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** On the same data and port, also from a running one; resolves once it serves. */
  restart(): Promise<void>
  /** Ends it in whatever state it is and removes its data. */
  stop(): Promise<void>
}

export type ServerProcess = {
  /** Must end the server when its stdin closes: nothing is left behind when the test's own process dies. */
  program: readonly [string, ...string[]]
  env?: NodeJS.ProcessEnv
  /** What it prints once it serves, with the serving process's id as first group. */
  ready: RegExp
  removeData: () => void
}

type Run = { child: ChildProcess; pid: number; ended: Promise<void> }

export async function startKillable(server: ServerProcess): Promise<KillableServer> {
  let run = await launch(server)
  const kill = async () => {
    if (!hasEnded(run.child)) endAtOnce(run.pid)
    await run.ended
  }
  return {
    get pid() {
      return run.pid
    },
    kill,
    pause: async () => void process.kill(run.pid, 'SIGSTOP'),
    resume: async () => void process.kill(run.pid, 'SIGCONT'),
    restart: async () => {
      await kill()
      run = await launch(server)
    },
    stop: async () => {
      await kill()
      server.removeData()
    },
  }
}

function launch({ program: [command, ...args], env, ready }: ServerProcess): Promise<Run> {
  const child = spawn(command, args, { env: env ?? process.env, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.stdin.on('error', () => {})
  return new Promise((resolve, reject) => {
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      const pid = Number(ready.exec(out)?.[1])
      if (pid > 0) resolve({ child, pid, ended })
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
      process.stderr.write(text)
    })
    child.once('error', reject)
    void ended.then(() => reject(new Error(`${args.join(' ')} ended before it served\n${out}${err}`)))
  })
}

/** It may have ended by itself a moment ago. */
function endAtOnce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
