/** `dextape doctor` about nodes: whether they answer, how far back they know the chain, what they take, and what the scope will ask of them. */
import type { ChainSourceConfig, Config } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Finding } from './checks.js'
import { checkEvm } from './evm.js'
import { checkSolana } from './solana.js'

export async function checkNodes(
  config: Config,
  sources: readonly ChainSourceConfig[],
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = await Promise.all(sources.map((source) => checkChain(config, source, nowMs, signal)))
  return found.flat()
}

async function checkChain(
  config: Config,
  source: ChainSourceConfig,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const say = (level: Finding['level'], what: string, fix?: string) =>
    void findings.push({ level, what: `${source.chain}: ${what}`, ...(fix === undefined ? {} : { fix }) })
  try {
    if (source.family === 'evm') await checkEvm(config, source, say, nowMs, signal)
    else await checkSolana(config, source, say, nowMs, signal)
  } catch (error) {
    if (!(error instanceof DextapeError)) throw error
    say('fail', error.message)
  }
  return findings
}
