/** `dextape listen`: one subscription from the command line. Prints the reply and every push as a JSON line. */
import { on, once } from 'node:events'
import type { RawData, WebSocket } from 'ws'
import { ConfigError, DextapeError } from '../core/domain/errors.js'
import { silentLogger } from '../core/runtime/logger.js'
import { pushUrl } from '../core/runtime/ports.js'
import { EXIT } from '../core/runtime/run-main.js'
import { createShutdown } from '../core/runtime/shutdown.js'
import { type Cli, configOfExistingData, type GlobalOptions, keyOf, type World } from './context.js'
import { parseWholeNumber } from './option-values.js'

type ListenOptions = GlobalOptions & { key?: string; url?: string; count?: string }

export function addListen({ program, world, act }: Cli): void {
  program
    .command('listen')
    .description('Subscribe to a topic and print every push as a JSON line')
    .argument('<topic>', 'tx, multi_tx, liq, kline, multi_kline or price')
    .argument('[params...]', 'Parameters of the topic (see the examples)')
    .option('-k, --key <key>', 'API key (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'WebSocket URL (default: the configured host and port)')
    .option('-n, --count <pushes>', 'Stop after N messages')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  dextape listen --key $KEY tx PAIR eth',
        '  dextape listen --key $KEY multi_tx TOKEN eth',
        '  dextape listen --key $KEY kline PAIR k1 eth',
        '  dextape listen --key $KEY multi_kline PAIR,k1,eth PAIR,k15,bsc',
        '  dextape listen --key $KEY price TOKEN-eth PAIR-bsc',
      ].join('\n'),
    )
    // Commander passes a variadic argument as one array.
    .action(act<ListenOptions>((options, topic = '', ...params) => listen(world, topic, params.flat(), options)))
}

async function listen(world: World, topic: string, params: readonly string[], options: ListenOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const key = keyOf(config, options, 'dextape keys create --name NAME')
  const count =
    options.count === undefined ? Number.POSITIVE_INFINITY : parseWholeNumber('--count', options.count, { from: 1 })
  const socket = await openSocket(options.url ?? pushUrl(config, config.wsPort), key)
  const shutdown = createShutdown(silentLogger)
  shutdown.signal.addEventListener('abort', () => socket.close())
  try {
    const frames = on(socket, 'message', { close: ['close'] }) as AsyncIterable<[RawData]>
    await untilOpen(socket)
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: wireParams(topic, params), id: 1 }))
    let pushes = -1
    for await (const [data] of frames) {
      const text = data.toString()
      const { error } = JSON.parse(text) as { error?: { message: string } }
      if (error !== undefined)
        throw new DextapeError({ code: 'refused', what: `The server refused the subscription: ${error.message}` })
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

async function openSocket(url: string, key: string): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  try {
    return new WebSocket(url, { headers: { 'x-api-key': key } })
  } catch (cause) {
    throw new ConfigError({
      code: 'option_invalid',
      what: `--url is not valid: ${url}`,
      expected: 'ws://host:port',
      cause,
    })
  }
}

async function untilOpen(socket: WebSocket): Promise<void> {
  try {
    await once(socket, 'open')
  } catch (cause) {
    throw new DextapeError({
      code: 'unreachable',
      what: `Cannot connect to ${socket.url}: ${(cause as Error).message}`,
      fix: 'Check that `dextape up` is running, or name its WebSocket port with --url.',
      cause,
    })
  }
}

/** `price` takes its ids as one array, `multi_kline` one array per series, written pair,interval,chain. */
function wireParams(topic: string, params: readonly string[]): unknown[] {
  if (topic === 'price') return [topic, params]
  return [topic, ...(topic === 'multi_kline' ? params.map((series) => series.split(',')) : params)]
}
