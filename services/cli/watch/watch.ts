/** `dextape watch`: a pair live in the terminal, or its trades line by line when piped. */
import { Option } from 'commander'
import { DextapeError as ClientError } from '../../../clients/typescript/src/errors.js'
import type { Interval, PairDetail } from '../../../clients/typescript/src/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { formatTime } from '../../core/runtime/output.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { type Cli, configOfExistingData, type GlobalOptions, keyOf, paintOf, type World } from '../context.js'
import { invalidOption, parseWholeNumber } from '../option-values.js'
import { createRestClient } from '../rest-client.js'
import type { PairFeed, PairId } from './follow-pair.js'

type WatchOptions = GlobalOptions & { key?: string; url?: string; interval: Interval; count?: string }

const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080']

export function addWatch({ program, world, act }: Cli): void {
  program
    .command('watch')
    .description('Watch a pair: price, candles and trades as they happen')
    .argument('<pair>', 'Pair id: <pair_address>-<chain>')
    .addOption(new Option('-i, --interval <interval>', 'Interval of the candles').choices(INTERVALS).default('k1'))
    .option('-n, --count <trades>', 'Print N trades and exit, without the chart')
    .option('-k, --key <key>', 'API key (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'REST URL (default: the configured host and port)')
    .addHelpText(
      'after',
      [
        '\nOn a terminal, press q or Ctrl-C to quit. Piped, it prints one line per trade, separated by tabs:',
        'time, side, amount, symbol, price in USD, value in USD, wallet, id. A reorg prints `retract` as the side.',
        'It reconnects by itself and resumes after the last trade.',
        '\nExamples:\n  dextape watch --key $KEY PAIR-eth\n  dextape watch --key $KEY PAIR-eth | grep buy',
      ].join('\n'),
    )
    .action(act<WatchOptions>((options, pair = '') => watch(world, pair, options)))
}

async function watch(world: World, id: string, options: WatchOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const key = keyOf(config, options, 'dextape keys create --name NAME')
  const count =
    options.count === undefined ? undefined : parseWholeNumber('--count', options.count, { from: 1, digits: 9 })
  const rest = createRestClient(config, options.url, key)
  const detail = await readPair(rest.ask, id)
  const pair: PairId = { address: detail.pair, chain: detail.chain, targetToken: detail.target_token }
  const isLive = world.stdout.isTTY === true && count === undefined
  const shutdown = createShutdown(silentLogger)
  let onRetry: (error: unknown) => void = () => {}
  try {
    const { createPairFeed } = await import('./follow-pair.js')
    const feed = createPairFeed({
      url: rest.url,
      key,
      pair,
      onRetry: (error) => onRetry(error),
      signal: shutdown.signal,
    })
    try {
      if (!isLive) return await printTrades(world, feed, count ?? Number.POSITIVE_INFINITY)
      const { showPair } = await import('./show-pair.js')
      const shown = showPair({
        ...{ feed, detail, interval: options.interval, paint: paintOf(world) },
        ...{ stdout: world.stdout, stdin: process.stdin, stop: () => shutdown.stop('quit'), signal: shutdown.signal },
      })
      onRetry = shown.onRetry
      await shown.ended
      return EXIT.ok
    } finally {
      feed.close()
    }
  } catch (error) {
    if (shutdown.signal.aborted) return EXIT.ok
    throw error instanceof ClientError
      ? new DextapeError({ code: error.code, what: error.message, cause: error })
      : error
  } finally {
    shutdown.done()
  }
}

async function readPair(ask: (path: string) => Promise<Response>, id: string): Promise<PairDetail> {
  if (!/^[^-]+-[^-]+$/.test(id)) throw invalidOption('<pair>', '<pair_address>-<chain>', id)
  const answer = await ask(`/v2/pairs/${encodeURIComponent(id)}`)
  const { data } = (await answer.json()) as { data: PairDetail | null }
  if (data !== null) return data
  throw new DextapeError({
    code: 'pair_unknown',
    what: `Unknown pair ${id.slice(0, 120)}`,
    fix: 'Find pairs on the dashboard, or with /v2/tokens?keyword=SYMBOL: main_pair is the address.',
  })
}

async function printTrades(world: World, feed: PairFeed, count: number): Promise<number> {
  let printed = 0
  for await (const event of feed.trades()) {
    if (event.kind === 'retract')
      for (const id of event.ids) await world.out.line(['', 'retract', '', '', '', '', '', id].join('\t'))
    if (event.kind !== 'trade') continue
    const { id, timeS, side, amount, symbol, priceUsd, amountUsd, wallet } = event.trade
    const numbers = [amount, symbol, priceUsd, amountUsd].map((value) => (Number.isNaN(value) ? '' : String(value)))
    await world.out.line([formatTime(timeS * 1000), side, ...numbers, wallet, id].join('\t'))
    printed += 1
    if (printed >= count) break
  }
  return EXIT.ok
}
