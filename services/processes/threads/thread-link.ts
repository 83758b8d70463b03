/** Calls between two threads: each side names the functions it answers, and calls those of the other. */
import type { MessagePort } from 'node:worker_threads'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'

/** Functions one side answers. Arguments and results must be plain data. */
// biome-ignore lint/suspicious/noExplicitAny: the link does not look at arguments
export type Methods = Record<string, (...args: any[]) => unknown>

export interface Link<Theirs extends Methods> {
  /** Resolves with the result of the other side; rejects with its error, or when the other side has ended. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>
  /** Without an answer. */
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void
  /** The other side has ended: no call is answered any more. */
  end(reason: string): void
}

type Port = Pick<MessagePort, 'postMessage'> & { on(event: 'message', listener: (message: Message) => void): unknown }

type Message =
  | { kind: 'call'; id: number; name: string; args: unknown[] }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'failure'; id: number; error: SentError }

/** For calls that want no answer. */
const NO_ANSWER = 0

export function openLink<Theirs extends Methods>(port: Port, mine: Methods): Link<Theirs> {
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: unknown) => void }>()
  let lastId = NO_ANSWER
  let endReason: string | undefined

  port.on('message', (message: Message) => {
    if (message.kind === 'call') return void answer(message.id, message.name, message.args)
    const caller = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.kind === 'result') caller?.resolve(message.result as never)
    else caller?.reject(receivedError(message.error))
  })

  async function answer(id: number, name: string, args: unknown[]): Promise<void> {
    const send = (reply: Message) => id !== NO_ANSWER && port.postMessage(reply)
    try {
      send({ kind: 'result', id, result: await mine[name]?.(...args) })
    } catch (error) {
      send({ kind: 'failure', id, error: sentError(error) })
    }
  }

  return {
    call(name, ...args) {
      if (endReason !== undefined) return Promise.reject(threadEnded(endReason))
      lastId += 1
      const id = lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        port.postMessage({ kind: 'call', id, name, args } satisfies Message)
      })
    },
    tell(name, ...args) {
      if (endReason === undefined) port.postMessage({ kind: 'call', id: NO_ANSWER, name, args } satisfies Message)
    },
    end(reason) {
      endReason = reason
      for (const { reject } of waiting.values()) reject(threadEnded(reason))
      waiting.clear()
    },
  }
}

function threadEnded(reason: string): DextapeError {
  return new DextapeError({
    code: 'thread_ended',
    what: 'A thread of this process has ended',
    got: reason,
    retry: true,
  })
}

/** An error as plain data: classes do not survive the way between threads. */
type SentError = { message: string; stack?: string | undefined; code?: string; retry?: boolean; isConfig?: boolean }

function sentError(error: unknown): SentError {
  if (error instanceof DextapeError)
    return { message: error.message, code: error.code, retry: error.retry, isConfig: error instanceof ConfigError }
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
}

function receivedError({ message, stack, code, retry = false, isConfig = false }: SentError): Error {
  if (code === undefined) return Object.assign(new Error(message), stack === undefined ? {} : { stack })
  const facts = { code, what: message, retry }
  return isConfig ? new ConfigError(facts) : new DextapeError(facts)
}
