/**
 * How often each randomised proof is repeated: a few times from a fixed seed in `npm test`, its full count in `npm run test:long`.
 * `DEXTAPE_TEST=long` sets all full counts; a variable named after the count, as DEXTAPE_TEST_CRASH_KILLS for `crashKills`, sets one.
 * DEXTAPE_TEST_SEED replaces the first seed of every suite. docs/testing.md lists all of them.
 */
export type Count = {
  /** 0: a suite that only a long run has. */
  short: number
  long: number
  /** The first one, where the suite plays several. */
  seed: number
  files: readonly [string, ...string[]]
  /** Completes "It proves that …". */
  proves: string
}

export const COUNTS = {
  crashKills: {
    // The first two of this seed die while they fold, and soon after they serve.
    ...{ short: 2, long: 50, seed: 30, files: ['test/integration/crash.test.ts'] },
    proves: '`up` killed at random moments leaves the same rows, updates and seq as one clean run',
  },
  chaosRounds: {
    // The first six rounds of this seed kill and pause every kind of part, two at once, and pause an aggregator until it is missed.
    ...{ short: 6, long: 50, seed: 534_409, files: ['test/integration/kafka-chaos.test.ts'] },
    proves: 'a cluster whose parts are killed and paused at random loses nothing and repeats nothing',
  },
  simulationSeeds: {
    ...{ short: 12, long: 10_000, seed: 1, files: ['test/simulation/simulation.test.ts'] },
    proves:
      'ingest, aggregate and serve on a simulated clock, log and store end where the final chain says, and push each message once',
  },
  outageSeconds: {
    ...{ short: 0, long: 15, seed: 9, files: ['test/integration/kafka-outage.long.test.ts'] },
    proves: 'an outage of the broker or the store is reported, does not grow memory, and loses nothing',
  },
  dataDamages: {
    ...{
      short: 8,
      long: 200,
      seed: 61,
      files: ['test/processes/damage.test.ts', 'test/integration/damage.long.test.ts'],
    },
    proves: 'a data directory with flipped, cut or removed files is repaired, or its start ends with the remedy',
  },
  generationSwitches: {
    ...{ short: 0, long: 6, seed: 7, files: ['test/integration/generations.long.test.ts'] },
    proves: 'a backfill switched in while it and `up` are killed loses and repeats no block',
  },
  replaySwitches: {
    ...{
      short: 1,
      long: 27,
      seed: 21,
      files: ['test/processes/replay.test.ts', 'test/integration/replay.long.test.ts'],
    },
    proves:
      'a replay switched in while clients listen and processes die loses and repeats no push, and no row is wrong',
  },
  replayedMarkets: {
    ...{ short: 0, long: 5, seed: 71, files: ['test/integration/replay-proof.long.test.ts'] },
    proves:
      'generated markets replayed with other money beside a running `up` lose and repeat no push of 200 clients, through ten kills; prints the latency with and without, and judges it on a machine without other work',
  },
  clusterReplays: {
    ...{ short: 0, long: 4, seed: 33, files: ['test/integration/kafka-replay.long.test.ts'] },
    proves:
      'chains of a cluster replayed while the replay and the aggregators are killed lose and repeat no push at two serve nodes, and no row is wrong',
  },
  replayStops: {
    ...{ short: 0, long: 20, seed: 7, files: ['test/integration/replay-runs.long.test.ts'] },
    proves: 'a recording played in several runs leaves what one run leaves',
  },
  brokerOutages: {
    ...{ short: 0, long: 12, seed: 5, files: ['test/core/log/kafka-outages.long.test.ts'] },
    proves: 'appends arrive once and in order whatever happens to the broker',
  },
  logWriterKills: {
    ...{ short: 2, long: 20, seed: 3, files: ['test/core/log/embedded-log.test.ts', 'test/core/log/kafka.test.ts'] },
    proves: 'a log writer killed in mid-append leaves every acknowledged batch once, the others whole or absent',
  },
  orphanRestarts: {
    ...{ short: 0, long: 6, seed: 42, files: ['test/integration/replay-orphans.long.test.ts'] },
    proves: 'a process stopped this often between orphaned blocks and their retract leaves no trace of them',
  },
  candleSeries: {
    ...{ short: 1, long: 13, seed: 101, files: ['test/integration/recording-generated.test.ts'] },
    proves: 'every candle REST serves of generated markets equals the reference, of this many in thirteen series',
  },
  cutsPerKind: {
    ...{ short: 0, long: 2, seed: 301, files: ['test/integration/recording-cuts.long.test.ts'] },
    proves: 'a market stopped at this many places of each kind has the windows, prices and main pairs of that moment',
  },
  foldMarketSeeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/aggregate/fold-against-reference.test.ts'] },
    proves: 'the fold of a generated market equals the recomputation from scratch',
  },
  foldRetractSeeds: {
    // Odd seeds are Solana’s, even ones Ethereum’s.
    ...{ short: 2, long: 20, seed: 15, files: ['test/aggregate/retract.test.ts'] },
    proves: 'a fold through retracts ends bit for bit where one without the orphaned blocks does',
  },
  checkpointCrashSeeds: {
    // Two neighbours are of both chain families, and of fast and slow blocks.
    ...{ short: 2, long: 20, seed: 42, files: ['test/aggregate/checkpoint.test.ts'] },
    proves: 'a fold that crashes at random and resumes from checkpoints gives the same updates, bit for bit',
  },
  tradeRecordSeeds: {
    ...{ short: 2, long: 12, seed: 62, files: ['test/aggregate/trades-topic.test.ts'] },
    proves: 'inserts less retracts of the trades topic are the stored trades, through reorgs and crashes',
  },
  evmMarketSeeds: {
    // Odd seeds read a chain from its first block, even ones from the middle of its life.
    ...{ short: 1, long: 100, seed: 1, files: ['test/integration/evm-market.test.ts'] },
    proves: 'reserves, prices, trades and candles are those of the exchanges’ own contracts, through reorgs',
  },
  evmDecodeSeeds: {
    ...{ short: 1, long: 100, seed: 1, files: ['test/integration/evm-decode.test.ts'] },
    proves: 'EVM decoders agree with the contracts about reserves, prices and trades',
  },
  evmHostileSeeds: {
    // Odd seeds reorganise what is published, even ones what is being read.
    ...{ short: 1, long: 100, seed: 1, files: ['test/integration/evm-hostile.test.ts'] },
    proves: 'an EVM node that fails and lies, with kills and a reorg, changes nothing that is published',
  },
  evmReaderSeeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/ingest/sources/evm/rpc/hostile.test.ts'] },
    proves: 'ranges read through hostile EVM nodes, and through a reorg, are those of one chain',
  },
  evmForkSeeds: {
    ...{ short: 2, long: 100, seed: 0, files: ['test/ingest/sources/evm/evm-source.test.ts'] },
    proves: 'an EVM source publishes what a clean run would, whatever forks, stale heads and restarts it meets',
  },
  riskMutants: {
    ...{ short: 0, long: 200, seed: 1, files: ['test/ingest/decode/evm/risk/token-risk.long.test.ts'] },
    proves: 'a token contract that harms its buyers, whatever its code looks like, is never scored as safe',
  },
  solanaLockSeeds: {
    ...{ short: 5, long: 100, seed: 1, files: ['test/ingest/decode/solana/locks/locks.test.ts'] },
    proves:
      'locked and burnt amounts of a Solana token are those of its lockers after random locks, withdrawals and burns',
  },
  positionSeeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/ingest/decode/evm/risk/positions.test.ts'] },
    proves: 'the locked part of a V3 pool is that of its positions after random locks, burns and reorgs',
  },
  lockSeeds: {
    ...{ short: 3, long: 20, seed: 1, files: ['test/ingest/decode/evm/risk/locks.test.ts'] },
    proves:
      'locked and burnt amounts of an EVM token are those of its lockers after random locks, withdrawals and burns',
  },
  holderSeeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/integration/evm-holders.test.ts'] },
    proves:
      'all holders of an EVM token that is older than the history are known, with the balances of its contract, after random transfers, reorgs and restarts',
  },
  solanaHolderSeeds: {
    ...{ short: 2, long: 60, seed: 1, files: ['test/integration/solana-holders.test.ts'] },
    proves:
      'all holders of a Solana token that is older than the history are known at every block, with the balances of its accounts, after random mints, transfers, burns and closes, reorgs, restarts and crashes',
  },
  supplySeeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/integration/evm-supply.test.ts'] },
    proves:
      'balances, holder counts, supplies, burnt and locked amounts of EVM tokens are those of their contracts after random transfers, mints, burns, locks and reorgs',
  },
  uniswapV4Seeds: {
    ...{ short: 1, long: 20, seed: 1, files: ['test/ingest/decode/evm/protocols/uniswap-v4/uniswap-v4.real.test.ts'] },
    proves: 'Uniswap v4 pools followed from logs hold what the pool manager holds, to the integer',
  },
  solanaHostileSeeds: {
    ...{ short: 1, long: 100, seed: 1, files: ['test/integration/solana-hostile.test.ts'] },
    proves: 'Solana nodes that fail, lie and lag, with kills and dead slots, change nothing that is published',
  },
  solanaReaderSeeds: {
    ...{ short: 1, long: 100, seed: 1, files: ['test/ingest/sources/solana/rpc/hostile.test.ts'] },
    proves: 'history read through hostile Solana nodes has every block and no wrong one',
  },
  solanaGeneratedSeeds: {
    ...{ short: 1, long: 100, seed: 1, files: ['test/ingest/decode/solana/block/generated.test.ts'] },
    proves:
      'generated transactions of every Solana exchange become the events their generator knows of, and nothing else',
  },
  solanaMutations: {
    ...{ short: 2_000, long: 100_000, seed: 7, files: ['test/ingest/decode/solana/block/mutations.test.ts'] },
    proves: 'a Solana transaction with garbage in any field is decoded, a dead letter, or nothing; never a crash',
  },
  clientRestarts: {
    ...{ short: 1, long: 12, seed: 5, files: ['test/clients/serve.test.ts'] },
    proves: 'clients deliver every push once and in order through this many restarts of the server',
  },
  restExamples: {
    // For each operation, beside those that cover its schema; 75 make over 2,000 requests.
    ...{ short: 0, long: 75, seed: 20_261, files: ['test/integration/fuzz-rest.long.test.ts'] },
    proves: 'schemathesis finds no 5xx and no answer that the OpenAPI document does not describe',
  },
  hotRequests: {
    ...{ short: 40, long: 2_000, seed: 31, files: ['test/serve/hot-history.test.ts'] },
    proves: 'history from memory equals history from the store alone, byte for byte, through reorgs and flushes',
  },
  launchHistories: {
    ...{ short: 2, long: 100, seed: 19, files: ['test/serve/history/launch-wallets.test.ts'] },
    proves: 'what snipers, insiders, bundles and clusters still have equals a count over the trades that reorgs left',
  },
  auditedMarkets: {
    ...{ short: 1, long: 5, seed: 18, files: ['test/serve/operations/candles-audit.test.ts'] },
    proves: 'audits, price paths and value histories agree, market by market, after reorgs',
  },
  auditedCandles: {
    ...{
      ...{ short: 60, long: 20_000, seed: 18 },
      files: ['test/serve/operations/candles-audit.test.ts', 'test/integration/recording-real-day.long.test.ts'],
    },
    proves: 'a candle computed again from the trades the API gives equals the candle it gives, to the last bit',
  },
  searchedTokens: {
    ...{ short: 20_000, long: 1_000_000, seed: 19, files: ['test/serve/rest/search-first-answers.test.ts'] },
    proves:
      'among this many tokens with impostors each search has its expected first answer; of a million the 99th percentile is under 10 ms',
  },
  httpRequests: {
    ...{ short: 150, long: 1_500, seed: 8_121, files: ['test/integration/fuzz-http.test.ts'] },
    proves: 'malformed HTTP requests get a 4xx that says why',
  },
  pushFrames: {
    ...{ short: 1200, long: 20_000, seed: 20_261, files: ['test/integration/fuzz-frames.test.ts'] },
    proves: 'malformed WebSocket frames get one answer or none, while others miss nothing',
  },
} as const satisfies Record<string, Count>

/** Suites without a count that carry more in a long run; it also has every `*.long.test.ts`. */
export const LARGER_SUITES: readonly string[] = [
  'test/browser/pages.test.ts',
  'test/cli/export.test.ts',
  'test/contract/push.test.ts',
  'test/contract/push-requests.test.ts',
  'test/integration/readme.test.ts',
  'test/integration/simulated.test.ts',
  'test/processes/replay-kafka.test.ts',
  'test/repository/compiled-code.test.ts',
  'test/repository/package.test.ts',
  'test/serve/history/wallet-trades.test.ts',
  'test/serve/prepared-epochs.test.ts',
  'test/serve/push/catch-up.test.ts',
  'test/serve/push/resume.test.ts',
  'test/serve/recent-restart.test.ts',
]

export type CountName = keyof typeof COUNTS

/** As DEXTAPE_TEST_CRASH_KILLS for `crashKills`. */
export const variableOf = (name: CountName): string =>
  `DEXTAPE_TEST_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

export function countOf(name: CountName, env: NodeJS.ProcessEnv = process.env): number {
  const { short, long } = COUNTS[name]
  return wholeNumberIn(env, variableOf(name)) ?? (isLongRun(env) ? long : short)
}

export function seedOf(name: CountName, env: NodeJS.ProcessEnv = process.env): number {
  return wholeNumberIn(env, 'DEXTAPE_TEST_SEED') ?? COUNTS[name].seed
}

/** As many as its count, from its first seed. */
export function seedsOf(name: CountName, env: NodeJS.ProcessEnv = process.env): number[] {
  return Array.from({ length: countOf(name, env) }, (_, at) => seedOf(name, env) + at)
}

export function isLongRun({ DEXTAPE_TEST: run = '' }: NodeJS.ProcessEnv = process.env): boolean {
  if (run !== '' && run !== 'long') throw new Error(`DEXTAPE_TEST must be "long" or unset, got "${run}"`)
  return run === 'long'
}

function wholeNumberIn(env: NodeJS.ProcessEnv, variable: string): number | undefined {
  const text = env[variable]
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${variable} must be a whole number, got "${text}"`)
  return Number(text)
}
