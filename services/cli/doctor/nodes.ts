/** `dextape doctor` on nodes: reachability, history, limits, and the requests the scope needs. */
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
  onChecked: (chains: number) => void,
): Promise<Finding[]> {
  let checked = 0
  onChecked(checked)
  const check = async (source: ChainSourceConfig) => {
    const found = await checkChain(config, source, nowMs, signal)
    onChecked(++checked)
    return found
  }
  return (await Promise.all(sources.map(check))).flat()
}

async function checkChain(
  config: Config,
  source: ChainSourceConfig,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const report = (level: Finding['level'], what: string, fix?: string) =>
    void findings.push({ level, what: `${source.chain}: ${what}`, ...(fix === undefined ? {} : { fix }) })
  try {
    if (source.family === 'evm') await checkEvm(config, source, report, nowMs, signal)
    else await checkSolana(config, source, report, nowMs, signal)
  } catch (error) {
    if (!(error instanceof DextapeError)) throw error
    report('fail', error.message)
  }
  return findings
}
