/** Starts what takes longest first, so that the run does not end with one worker waiting for the other. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Rough seconds of the longest files on two cores: only their order counts. Files not listed come after these. */
const SECONDS: Record<string, number> = {
  ...{
    'integration/kafka-failover.test.ts': 85,
    'integration/readme.test.ts': 85,
    'integration/kafka-outage.test.ts': 83,
  },
  ...{
    'integration/kafka-chaos.test.ts': 68,
    'integration/replay-runs.test.ts': 71,
    'integration/fuzz-rest.test.ts': 62,
  },
  ...{ 'integration/simulated.test.ts': 60, 'integration/start-failures.test.ts': 53, 'integration/crash.test.ts': 49 },
  ...{ 'integration/recording-generated.test.ts': 50, 'cli/recordings.test.ts': 45, 'cli/cli.test.ts': 41 },
  ...{ 'integration/kafka-python-consumer.test.ts': 42, 'integration/generations.test.ts': 38 },
  ...{
    'integration/sockets.test.ts': 37,
    'integration/recording-live-reorg.test.ts': 35,
    'aggregate/trades-topic.test.ts': 35,
  },
  ...{
    'integration/bad-input.test.ts': 35,
    'integration/recording-cuts.test.ts': 35,
    'repository/package.test.ts': 40,
  },
  ...{ 'integration/replay-orphans.test.ts': 35, 'integration/kafka-equal.test.ts': 30, 'browser/pages.test.ts': 28 },
  ...{ 'contract/rest.test.ts': 26, 'integration/evm-up.test.ts': 24, 'integration/replay-stop.test.ts': 23 },
  ...{ 'contract/push-requests.test.ts': 20, 'contract/push.test.ts': 20, 'core/coordination/kafka.test.ts': 20 },
}

export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // A process is used again only while the next file is of the same project: the projects come one after another.
    const projects = ['alone', 'push-ws', 'shared']
    const turnOf = ({ project }: TestSpecification): number => projects.indexOf(project.name)
    const weightOf = ({ moduleId }: TestSpecification): number =>
      SECONDS[relative(`${this.ctx.config.root}/test`, moduleId)] ?? 0
    return [...specifications].sort((a, b) => turnOf(a) - turnOf(b) || weightOf(b) - weightOf(a))
  }
}
