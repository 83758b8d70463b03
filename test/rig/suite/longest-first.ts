/** Starts what takes longest first, so that the run does not end with one worker waiting for the other; pure files fill the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds of the longest files on two cores; roughly is enough. Files not listed come after these. */
const SECONDS: Record<string, number> = {}

export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const weightOf = ({ moduleId, project }: TestSpecification): number =>
      project.name === 'pure' ? -1 : (SECONDS[relative(`${this.ctx.config.root}/test`, moduleId)] ?? 0)
    return [...specifications].sort((a, b) => weightOf(b) - weightOf(a))
  }
}
