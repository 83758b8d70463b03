/** `npm run bench`: compares each measurement with a baseline of the same run; fails if a promised ratio is missed. */
import { benchCheckpointHours } from './checkpoint-hours.js'
import { benchClusterIdle } from './cluster-idle.js'
import { benchEvm } from './evm.js'
import { benchExport } from './export.js'
import { benchFanOut } from './fan-out.js'
import { benchIdlePairs } from './idle-pairs.js'
import { benchIdleUp } from './idle-up.js'
import { benchKafka } from './kafka.js'
import { benchKafkaStreams } from './kafka-streams.js'
import { benchKeywordSearch } from './keyword-search.js'
import { benchLongHistory } from './long-history.js'
import { benchNewTokens } from './new-tokens.js'
import { benchPipeline } from './pipeline.js'
import { benchRest } from './rest.js'
import { benchRestore } from './restore.js'
import { benchSimulator } from './simulator.js'
import { benchSolana } from './solana.js'
import { benchStart } from './start.js'
import { benchTokenFacts } from './token-facts.js'
import { benchUp } from './up.js'

const BENCHES: readonly (readonly [name: string, what: string, run: () => boolean | Promise<boolean>])[] = [
  ['pipeline', 'log → fold → updates → rows → inserted', benchPipeline],
  ['up', 'a recording from its first line to everything stored and served', benchUp],
  ['token-facts', 'balances, risk, launches and wallets beside swaps', benchTokenFacts],
  ['idle-pairs', 'memory of pairs that do not trade', benchIdlePairs],
  ['checkpoint-hours', 'checkpoints while windows fill', benchCheckpointHours],
  ['new-tokens', 'a new token beside many known ones', benchNewTokens],
  ['keyword-search', 'search over a million tokens', benchKeywordSearch],
  ['simulator', 'the simulated market', benchSimulator],
  ['solana', 'decoding of Solana blocks', benchSolana],
  ['fan-out', 'pushes to many sockets', benchFanOut],
  ['rest', 'REST requests', benchRest],
  ['long-history', 'candles and swaps from a year, beside a day', benchLongHistory],
  ['export', 'files of a million trades', benchExport],
  ['restore', 'subscriptions that resume', benchRestore],
  ['kafka', 'appends to Kafka', benchKafka],
  ['kafka-streams', 'the aggregate beside Kafka Streams', benchKafkaStreams],
  ['cluster-idle', 'a cluster without load', benchClusterIdle],
  ['start', 'CPU of `up` until it serves', benchStart],
  ['idle-up', '`npm start` without clients', benchIdleUp],
  ['evm', 'history read from an EVM node', benchEvm],
]

const USAGE = `Usage: npm run bench -- [name …]

Without a name all of them run, which takes more than half an hour.

${BENCHES.map(([name, what]) => `  ${name.padEnd(16)}${what}`).join('\n')}
`

async function runBenches(names: readonly string[]): Promise<number> {
  if (names.some((name) => name === '--help' || name === '-h')) {
    process.stdout.write(USAGE)
    return 0
  }
  const unknown = names.filter((name) => !BENCHES.some(([known]) => known === name))
  if (unknown.length > 0) {
    process.stderr.write(`Unknown bench: ${unknown.join(', ')}\n\n${USAGE}`)
    return 2
  }
  let isKept = true
  for (const [name, , run] of BENCHES) if (names.length === 0 || names.includes(name)) isKept = (await run()) && isKept
  return isKept ? 0 : 1
}

process.exitCode = await runBenches(process.argv.slice(2))
