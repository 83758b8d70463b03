/** Starts what takes longest first, so that the run does not end with one worker waiting for the other. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Rough seconds of the longest files on two cores: only their order counts. Files not listed come after these. */
const SECONDS: readonly [seconds: number, ...files: string[]][] = [
  [70, 'integration/readme'],
  [65, 'integration/kafka-chaos'],
  [48, 'integration/recording-generated'],
  [45, 'integration/simulated', 'integration/kafka-equal.long'],
  [38, 'integration/generations', 'integration/replay-runs'],
  [33, 'integration/crash'],
  [28, 'integration/evm-up', 'clients/serve'],
  [25, 'integration/start-failures'],
  [24, 'integration/recording-cuts', 'contract/rest', 'clients/up'],
  [23, 'integration/process-death', 'browser/pages'],
  [22, 'ingest/sources/evm/rpc/hostile'],
  [20, 'integration/replay-orphans', 'repository/package'],
  [19, 'core/log/kafka'],
  [17, 'ingest/simulator/fold', 'core/coordination/kafka'],
  [14, 'aggregate/trades-topic'],
  [13, 'integration/fuzz-frames', 'integration/solana-up', 'integration/recording-real-day'],
  [12, 'cli/cli'],
  [11, 'integration/solana-backfill', 'contract/push-requests', 'contract/push', 'cli/recordings', 'serve/push/resume'],
  [10, 'serve/recent-restart', 'integration/evm-backfill', 'integration/evm-hostile'],
  [
    9,
    'serve/dependencies-down',
    'ingest/sources/evm/rpc/evm-reader',
    'core/log/kafka-outages',
    'integration/evm-market',
    'ingest/sources/evm/evm-source',
  ],
]
const SECONDS_OF = new Map(SECONDS.flatMap(([seconds, ...files]) => files.map((file) => [`${file}.test.ts`, seconds])))

export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // A process is used again only while the next file is of the same project: the projects come one after another.
    const projects = ['alone', 'push-ws', 'shared']
    const turnOf = ({ project }: TestSpecification): number => projects.indexOf(project.name)
    const weightOf = ({ moduleId }: TestSpecification): number =>
      SECONDS_OF.get(relative(`${this.ctx.config.root}/test`, moduleId)) ?? 0
    return [...specifications].sort((a, b) => turnOf(a) - turnOf(b) || weightOf(b) - weightOf(a))
  }
}
