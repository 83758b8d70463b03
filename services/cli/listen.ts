/** `dextape listen`: one subscription from the command line; the reply and every push is a JSON line. */
import { on, once } from 'node:events'
import { type RawData, WebSocket } from 'ws'
import { ConfigError, DextapeError } from '../core/domain/errors.js'
import { silentLogger } from '../core/runtime/logger.js'
import { hostInUrl } from '../core/runtime/ports.js'
import { EXIT } from '../core/runtime/run-main.js'
import { createShutdown } from '../core/runtime/shutdown.js'
import { configOfExistingData, type GlobalOptions, type World } from './context.js'
import { parseWholeNumber } from './option-values.js'

export type ListenOptions = GlobalOptions & { key?: string; url?: string; count?: string }

export async function listen(
  world: World,
  topic: string,
  params: readonly string[],
  options: ListenOptions,
): Promise<number> {
  const config = configOfExistingData(world, options)
  const key = options.key ?? (config.apiKey.kind === 'fixed' ? config.apiKey.key : undefined)
  if (key === undefined) {
    throw new ConfigError({
      code: 'key_missing',
      what: 'Listening needs an API key',
      fix: 'Give it with --key or DEXTAPE_API_KEY; `dextape keys create --name NAME` makes one.',
    })
  }
  const count =
    options.count === undefined ? Number.POSITIVE_INFINITY : parseWholeNumber('--count', options.count, { from: 1 })
  const socket = openSocket(options.url ?? `ws://${hostInUrl(config.host)}:${config.wsPort}`, key)
  const shutdown = createShutdown(silentLogger)
  shutdown.signal.addEventListener('abort', () => socket.close())
  try {
    const frames = on(socket, 'message', { close: ['close'] }) as AsyncIterable<[RawData]>
    await opened(socket)
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: wireParams(topic, params), id: 1 }))
    let pushes = -1
    for await (const [data] of frames) {
      const text = data.toString()
      const { error } = JSON.parse(text) as { error?: { message: string } }
      if (error !== undefined) throw new DextapeError({ code: 'refused', what: `The server refused: ${error.message}` })
      await world.out.line(text)
      pushes += 1
      if (pushes >= count) return EXIT.ok
    }
    return shutdown.signal.aborted ? EXIT.ok : EXIT.failed
  } finally {
    socket.terminate()
    shutdown.done()
  }
}

function openSocket(url: string, key: string): WebSocket {
  try {
    return new WebSocket(url, { headers: { 'x-api-key': key } })
  } catch (cause) {
    throw new ConfigError({ code: 'option_invalid', what: '--url is not valid', expected: 'ws://host:port', cause })
  }
}

async function opened(socket: WebSocket): Promise<void> {
  try {
    await once(socket, 'open')
  } catch (cause) {
    throw new DextapeError({
      code: 'unreachable',
      what: `${socket.url} cannot be reached: ${(cause as Error).message}`,
      fix: 'Is `dextape up` running, and is this its WebSocket port? Name another with --url.',
      cause,
    })
  }
}

/** price takes its ids as one array, multi_kline an array for each series, written pair,interval,chain. */
function wireParams(topic: string, params: readonly string[]): unknown[] {
  if (topic === 'price') return [topic, params]
  return [topic, ...(topic === 'multi_kline' ? params.map((series) => series.split(',')) : params)]
}
