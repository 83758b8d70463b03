/** Runs `up` or `backfill` on a moving chain instead of nodes: `dextape.js PLAN up|backfill [OPTIONS]`. */
import { readFileSync } from 'node:fs'
import { type BackfillOptions, runBackfillCommand } from '../../../services/cli/backfill/backfill.js'
import { selectSources } from '../../../services/cli/chain-options.js'
import { configOf, loggerOf, type World } from '../../../services/cli/context.js'
import { createOutput } from '../../../services/core/runtime/output.js'
import { runMain } from '../../../services/core/runtime/run-main.js'
import type { OpenChain } from '../../../services/processes/chain-sources/open-chain.js'
import { runUp } from '../../../services/processes/up.js'
import { openMovingChain, readLines } from './moving-chain.js'

/** `startedMs`: when the first line happens; `lineMs`: time between lines. */
export type ProcessPlan = { tape: string; startedMs: number; lineMs: number }

const [, , planFile = '', command, ...options] = process.argv
const { tape, startedMs, lineMs } = JSON.parse(readFileSync(planFile, 'utf8')) as ProcessPlan

const open: OpenChain = async ({ config: { chain, start }, facts: { family } }) => {
  const lines = readLines(tape).filter((line) => line.chain === chain)
  const trueLines = () => Math.floor((Date.now() - startedMs) / lineMs)
  return openMovingChain({ lines, family, trueLines, start }, `moving:${chain}`)
}

const world: World = {
  ...{ env: process.env, cwd: process.cwd(), out: createOutput(process.stdout), stdout: process.stdout },
  ...{ stdin: process.stdin as AsyncIterable<Buffer>, stderrIsTerminal: false, nowMs: Date.now },
}

await runMain(async () => {
  if (command === 'backfill') {
    const [chain = '', from] = options
    const asked: BackfillOptions = { chain, ...(from === undefined ? {} : { from }) }
    return runBackfillCommand(world, asked, open)
  }
  const config = configOf(world, {})
  const source = { kind: 'chains', sources: selectSources(config, undefined) } as const
  return runUp({ config, logger: loggerOf(world, config), out: world.out, source, speed: 'max', open })
})
