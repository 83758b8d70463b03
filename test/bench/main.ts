/** `npm run bench`: compares each measurement with a baseline of the same run; fails if a promised ratio is missed. */
import { benchClusterIdle } from './cluster-idle.js'
import { benchEvm } from './evm.js'
import { benchExport } from './export.js'
import { benchFanOut } from './fan-out.js'
import { benchIdlePairs } from './idle-pairs.js'
import { benchIdleUp } from './idle-up.js'
import { benchKafka } from './kafka.js'
import { benchKafkaStreams } from './kafka-streams.js'
import { benchKeywordSearch } from './keyword-search.js'
import { benchNewTokens } from './new-tokens.js'
import { benchPipeline } from './pipeline.js'
import { benchRest } from './rest.js'
import { benchRestore } from './restore.js'
import { benchSimulator } from './simulator.js'
import { benchSolana } from './solana.js'
import { benchUp } from './up.js'

const kept = [
  await benchPipeline(),
  await benchUp(),
  benchIdlePairs(),
  benchNewTokens(),
  benchKeywordSearch(),
  await benchSimulator(),
  await benchSolana(),
  await benchFanOut(),
  await benchRest(),
  await benchExport(),
  await benchRestore(),
  await benchKafka(),
  await benchKafkaStreams(),
  await benchClusterIdle(),
  await benchIdleUp(),
  await benchEvm(),
]
process.exitCode = kept.every(Boolean) ? 0 : 1
