/** Runs `up` or `backfill` on a moving chain instead of nodes: `dextape.js PLAN up|backfill [OPTIONS]`. */
import { type BackfillOptions, runBackfillCommand } from '../../../services/cli/backfill/backfill.js'
import { selectSources } from '../../../services/cli/chain-options.js'
import { configOf, loggerOf, type World } from '../../../services/cli/context.js'
import { createOutput } from '../../../services/core/runtime/output.js'
import { runMain } from '../../../services/core/runtime/run-main.js'
import { runUp } from '../../../services/processes/up.js'
import { openChain, PLAN_VARIABLE } from './open-moving-chain.js'

const [, , planFile = '', command, ...options] = process.argv
process.env[PLAN_VARIABLE] = planFile

const world: World = {
  ...{ env: process.env, cwd: process.cwd(), out: createOutput(process.stdout), stdout: process.stdout },
  ...{ stdin: process.stdin as AsyncIterable<Buffer>, stderr: process.stderr, nowMs: Date.now },
}

await runMain(async () => {
  if (command === 'backfill') {
    const [chain = '', from] = options
    const asked: BackfillOptions = { chain, ...(from === undefined ? {} : { from }) }
    return runBackfillCommand(world, asked, openChain)
  }
  const config = configOf(world, {})
  const openFrom = new URL('./open-moving-chain.js', import.meta.url).href
  const source = { kind: 'chains', sources: selectSources(config, undefined) } as const
  return runUp({ config, logger: loggerOf(world, config), out: world.out, source, speed: 'max', openFrom })
})
