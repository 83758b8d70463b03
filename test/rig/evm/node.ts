/** A real local Ethereum node for one test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { steadyPort } from '../servers/steady-port.js'
import { type NodeOptions, type Program, programOf } from './programs.js'

export type RpcCall = readonly [method: string, params: readonly unknown[]]

export type EvmNode = {
  readonly url: string
  readonly wsUrl: string
  readonly chainId: number
  readonly pid: number
  /** Unlocked: the node signs for them. Lower case. */
  readonly accounts: readonly string[]
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** One batch, for reads only: a node may process them in any order. Fails with the first error. */
  batch<T = unknown>(calls: readonly RpcCall[]): Promise<T[]>
  /** Mines all pending transactions; `timeS`: the block's time, by default one second after the last block, never the clock. */
  mine(timeS?: number): Promise<void>
  snapshot(): Promise<string>
  /** Reverts to a snapshot, which can be used only once. */
  revert(snapshot: string): Promise<void>
  /** Stops it in any state. */
  stop(): Promise<void>
}

/** An error returned by a node. */
export class RpcError extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(`${method}: ${message} (${code})${data === undefined ? '' : ` ${JSON.stringify(data)}`}`)
    this.name = 'RpcError'
  }
}

const ANSWERS_WITHIN_MS = 60_000
const ASK_EVERY_MS = 25
/** `exec` keeps the process id; the reader stops exactly this node when this process ends for any reason. */
const UNTIL_STDIN_ENDS = [
  'exec 3<&0',
  '(cat <&3 >/dev/null; read -r _ _ _ parent _ </proc/self/stat; [ "$parent" = $$ ] && kill -9 $$) >/dev/null 2>&1 &',
  'exec "$@" 3<&- </dev/null',
].join('\n')

export async function startNode(options: NodeOptions): Promise<EvmNode> {
  const port = await steadyPort()
  const program = await programOf(options, port)
  const running = launch(program)
  const url = `http://127.0.0.1:${port}`
  const ask = asker(url)
  const stop = async (): Promise<void> => {
    running.child.kill('SIGKILL')
    await running.ended
    program.removeData()
  }
  try {
    const accounts = await firstAnswer(ask, running, program)
    return {
      url,
      wsUrl: `ws://127.0.0.1:${port}`,
      chainId: options.chainId,
      accounts,
      ...ask,
      ...chainOf(ask),
      stop,
      pid: running.child.pid ?? 0,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

type Running = { child: ChildProcess; ended: Promise<void>; said(): string }

function launch({ command, args, cwd }: Program): Running {
  const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const child = spawn('sh', ['-c', UNTIL_STDIN_ENDS, 'sh', command, ...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  let said = ''
  const listen = (text: string): void => {
    said = `${said}${text}`.slice(-4000)
  }
  child.stdout.setEncoding('utf8').on('data', listen)
  child.stderr.setEncoding('utf8').on('data', listen)
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      listen(error.message)
      resolve()
    })
    child.once('close', () => resolve())
  })
  return { child, ended, said: () => said }
}

async function firstAnswer(ask: Asker, { child, ended, said }: Running, program: Program): Promise<string[]> {
  const deadline = Date.now() + ANSWERS_WITHIN_MS
  const gone = ended.then(() => 'gone' as const)
  for (;;) {
    const answer = await Promise.race([ask.rpc<string[]>('eth_accounts').catch(() => null), gone])
    if (answer !== null && answer !== 'gone') return answer.map((account) => account.toLowerCase())
    const command = [program.command, ...program.args].join(' ')
    if (answer === 'gone') throw new Error(`the local EVM node ended with ${child.exitCode}: ${command}\n${said()}`)
    if (Date.now() > deadline) throw new Error(`the local EVM node does not answer: ${command}\n${said()}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}

type Asker = Pick<EvmNode, 'rpc' | 'batch'>
type Answer = { id: number; result?: unknown; error?: { code: number; message: string; data?: unknown } }

function asker(url: string): Asker {
  const post = async (body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const request = ([method, params]: RpcCall, id: number) => ({ jsonrpc: '2.0', id, method, params })
  const resultOf = <T>(method: string, { result, error }: Answer): T => {
    if (error !== undefined) throw new RpcError(method, error.code, error.message, error.data)
    return result as T
  }
  return {
    rpc: async (method, params = []) => resultOf(method, (await post(request([method, params], 0))) as Answer),
    batch: async (calls) => {
      if (calls.length === 0) return []
      const answers = new Map(((await post(calls.map(request))) as Answer[]).map((answer) => [answer.id, answer]))
      return calls.map(([method], id) => {
        const answer = answers.get(id)
        if (answer === undefined) throw new Error(`the local EVM node left ${method} of a batch unanswered`)
        return resultOf(method, answer)
      })
    },
  }
}

function chainOf({ rpc }: Asker): Pick<EvmNode, 'mine' | 'snapshot' | 'revert'> {
  return {
    mine: async (timeS) => {
      const { timestamp } = await rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      await rpc('evm_mine', [timeS ?? Number(timestamp) + 1])
    },
    snapshot: () => rpc('evm_snapshot'),
    revert: async (snapshot) => {
      if (!(await rpc<boolean>('evm_revert', [snapshot]))) throw new Error(`no snapshot ${snapshot} to go back to`)
    },
  }
}
