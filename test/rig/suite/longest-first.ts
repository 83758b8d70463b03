/** Starts what takes longest first, so that the run does not end with one worker waiting for the other; pure files fill the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Rough seconds of the longest files on two cores: only their order counts. Files not listed come after these. */
const SECONDS: Record<string, number> = {
  ...{ 'integration/kafka-chaos.test.ts': 70, 'integration/kafka-failover.test.ts': 65 },
  ...{ 'integration/kafka-outage.test.ts': 60, 'integration/crash.test.ts': 50, 'integration/readme.test.ts': 45 },
  ...{ 'integration/generations.test.ts': 40, 'integration/simulated.test.ts': 40 },
  ...{ 'integration/replay-runs.test.ts': 40, 'integration/evm-market.test.ts': 35 },
  ...{ 'integration/evm-hostile.test.ts': 30, 'integration/kafka-equal.test.ts': 30 },
  ...{ 'integration/fuzz-rest.test.ts': 30, 'integration/kafka-python-consumer.test.ts': 30 },
  ...{ 'core/coordination/kafka.test.ts': 25, 'core/log/kafka.test.ts': 20, 'core/log/kafka-outages.test.ts': 15 },
  ...{ 'integration/recording-generated.test.ts': 25, 'integration/recording-push.test.ts': 20 },
  ...{ 'integration/evm-up.test.ts': 20, 'integration/start-failures.test.ts': 20, 'cli/cli.test.ts': 20 },
}

export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const weightOf = ({ moduleId, project }: TestSpecification): number =>
      project.name === 'pure' ? -1 : (SECONDS[relative(`${this.ctx.config.root}/test`, moduleId)] ?? 0)
    return [...specifications].sort((a, b) => weightOf(b) - weightOf(a))
  }
}
