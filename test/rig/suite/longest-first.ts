/** Starts what takes longest first, so that the run does not end with one worker waiting for the other. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Rough seconds of the longest files on two cores: only their order counts. Files not listed come after these. */
const SECONDS: readonly [seconds: number, ...files: string[]][] = [
  [72, 'integration/readme'],
  [64, 'integration/kafka-chaos'],
  [55, 'browser/pages', 'clients/serve'],
  [43, 'integration/recording-generated'],
  [39, 'integration/simulated', 'serve/push/transport/transports'],
  [33, 'simulation/simulation'],
  [28, 'integration/evm-up', 'integration/crash', 'ingest/sources/evm/rpc/hostile'],
  [25, 'core/log/kafka', 'contract/rest', 'core/runtime/watchdog'],
  [22, 'integration/recording-push', 'processes/damage'],
  [18, 'integration/start-failures', 'integration/bad-input', 'integration/solana-up', 'cli/export'],
  [17, 'core/coordination/kafka', 'serve/operations/candles-audit', 'integration/fuzz-frames'],
  [15, 'contract/push-requests', 'cli/recordings', 'integration/recording-live-reorg'],
  [13, 'core/store/socket', 'repository/package', 'contract/push', 'ingest/sources/evm/rpc/evm-reader'],
  [12, 'serve/dependencies-down', 'processes/replay', 'core/log/registry-http', 'cli/live-commands', 'cli/cli'],
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
