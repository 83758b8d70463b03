/** Keep-alive connections that send one request after another; cheap enough that the server is what is measured. */
import { connect, type Socket } from 'node:net'

export type Load = { requests: number; seconds: number; bodyBytes: number }
export type Request = { path: string; body?: string }

/** Sends the requests in turn over `connections` for `seconds`. Fails at any status other than 200. */
export async function loadHttp(port: number, requests: readonly Request[], plan: Plan): Promise<Load> {
  const payloads = requests.map((request) => Buffer.from(textOf(request, plan.headers)))
  const start = performance.now()
  const endMs = start + plan.seconds * 1000
  let next = 0
  const take = () => (performance.now() < endMs ? payloads[next++ % payloads.length] : undefined)
  const done = await Promise.all(Array.from({ length: plan.connections }, () => runConnection(port, take)))
  const answers = done.reduce((sum, one) => sum + one.answers, 0)
  const bytes = done.reduce((sum, one) => sum + one.bodyBytes, 0)
  return { requests: answers, seconds: (performance.now() - start) / 1000, bodyBytes: Math.round(bytes / answers) }
}

export type Plan = { connections: number; seconds: number; headers: Record<string, string> }

function textOf({ path, body }: Request, headers: Record<string, string>): string {
  const lines = Object.entries({ host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}`)
  if (body === undefined) return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
  lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

type Done = { answers: number; bodyBytes: number }

function runConnection(port: number, take: () => Buffer | undefined): Promise<Done> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1')
    const done: Done = { answers: 0, bodyBytes: 0 }
    /** Bytes of the present answer that are still to come; undefined: its head is not complete. */
    let left: number | undefined
    let head = ''
    const sendNext = () => {
      const payload = take()
      if (payload !== undefined) return void socket.write(payload)
      socket.destroy()
      resolve(done)
    }
    socket.setNoDelay(true)
    socket.on('connect', sendNext)
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      if (left === undefined) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!head.startsWith('HTTP/1.1 200 ')) return void reject(new Error(head.slice(0, 2000)))
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
        done.bodyBytes += length
        left = length - (head.length - end - 4)
        head = ''
      } else left -= chunk.length
      if (left > 0) return
      left = undefined
      done.answers += 1
      sendNext()
    })
  })
}
