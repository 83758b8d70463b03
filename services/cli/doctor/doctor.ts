/** `dextape doctor`: what a start would need, each line ok, warn or fail, and what to do about it. */
import { type Config, describeConfig } from '../../core/config/index.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { type ChainOptions, chainSections, selectSources } from '../chain-options.js'
import { configOf, type GlobalOptions, type World } from '../context.js'
import {
  checkDataDir,
  checkKafka,
  checkNative,
  checkNode,
  checkPort,
  checkPushServer,
  checkRegistry,
  checkStore,
  type Finding,
} from './checks.js'

export async function doctor(world: World, options: GlobalOptions & ChainOptions): Promise<number> {
  const findings = [checkNode(process.version), ...(await checkNative())]
  const config = readConfig(world, options, findings)
  if (config !== undefined) {
    findings.push(checkPushServer(config))
    findings.push(...checkDataDir(config))
    findings.push(await checkPort(config, config.httpPort, 'DEXTAPE_HTTP_PORT'))
    findings.push(await checkPort(config, config.wsPort, 'DEXTAPE_WS_PORT'))
    if (config.log.kind === 'kafka') {
      findings.push(await checkKafka(config.log))
      if (config.log.registry.kind === 'http') findings.push(await checkRegistry(config.log.registry.url))
    }
    if (config.store.kind === 'clickhouse') findings.push(await checkStore(config.store.url))
  }
  await tell(world, findings)
  if (config === undefined) return EXIT.failed
  // Told apart: a slow node may take a minute.
  const aboutNodes = await findNodes(world, config, options.chain)
  await tell(world, aboutNodes)
  await world.out.line('\nConfiguration as it will be used:')
  await world.out.line(JSON.stringify(describeConfig(config), null, 2))
  return [...findings, ...aboutNodes].some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.ok
}

async function findNodes(world: World, config: Config, chain: string | undefined): Promise<Finding[]> {
  const sources = selectSources(config, chain)
  if (sources.length === 0) return []
  const { checkNodes } = await import('./nodes.js')
  return checkNodes(config, sources, world.nowMs, new AbortController().signal)
}

async function tell(world: World, findings: readonly Finding[]): Promise<void> {
  for (const { level, what, fix } of findings)
    await world.out.line(`${level.padEnd(4)}  ${what}${fix === undefined ? '' : ` → ${fix}`}`)
}

function readConfig(world: World, options: GlobalOptions & ChainOptions, findings: Finding[]): Config | undefined {
  try {
    const config = configOf(world, options, { chains: chainSections(options) })
    selectSources(config, options.chain)
    findings.push({ level: 'ok', what: 'the configuration is valid' })
    return config
  } catch (error) {
    findings.push({ level: 'fail', what: (error as Error).message })
    return undefined
  }
}
