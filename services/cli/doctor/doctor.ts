/** `dextape doctor`: checks what a start needs, one line per finding, with what to do about it. */
import { type Config, describeConfig } from '../../core/config/index.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { printable } from '../../core/runtime/terminal.js'
import { addChainOptions, CHAIN_HELP, type ChainOptions, chainSections, selectSources } from '../chain-options.js'
import { type Cli, configOf, type GlobalOptions, loggerOf, paintOf, progressOf, type World } from '../context.js'
import type { Finding } from './checks.js'

type DoctorOptions = GlobalOptions & ChainOptions

export function addDoctor({ program, world, act }: Cli): void {
  const doctor = program
    .command('doctor')
    .description('Check the installation, configuration, ports, log, store and nodes')
  addChainOptions(doctor, [])
    .addHelpText(
      'after',
      [
        '\nFor each chain it also estimates the requests and traffic that the configured pools, tokens and exchanges need.',
        CHAIN_HELP,
        '\nExamples:\n  dextape doctor\n  dextape doctor --chain base --rpc https://node.example --pool 0x…',
      ].join('\n'),
    )
    .action(act<DoctorOptions>((options) => runDoctor(world, options)))
}

async function runDoctor(world: World, options: DoctorOptions): Promise<number> {
  const checks = await import('./checks.js')
  const findings = [checks.checkNode(process.version), ...(await checks.checkNative())]
  const config = readConfig(world, options, findings)
  if (config !== undefined) {
    findings.push(checks.checkPushServer(config))
    findings.push(...checks.checkDataDir(config), ...checks.checkDamage(config))
    findings.push(await checks.checkPort(config, config.httpPort, 'DEXTAPE_HTTP_PORT'))
    findings.push(await checks.checkPort(config, config.wsPort, 'DEXTAPE_WS_PORT'))
    if (config.log.kind === 'kafka') {
      findings.push(await checks.checkKafka(config.log))
      if (config.log.registry.kind === 'http') findings.push(await checks.checkRegistry(config.log.registry))
    }
    if (config.store.kind === 'clickhouse') findings.push(await checks.checkStore(config.store))
  }
  await print(world, findings)
  if (config === undefined) return EXIT.failed
  // Printed separately: a slow node may take a minute.
  const nodeFindings = await checkNodes(world, config, options.chain)
  await print(world, nodeFindings)
  await world.out.line('\nEffective configuration:')
  await world.out.line(JSON.stringify(describeConfig(config), null, 2))
  return [...findings, ...nodeFindings].some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.ok
}

async function checkNodes(world: World, config: Config, chain: string | undefined): Promise<Finding[]> {
  const sources = selectSources(config, chain)
  if (sources.length === 0) return []
  const nodes = await import('./nodes.js')
  const progress = progressOf(world, loggerOf(world, config), { message: 'checking nodes', unit: 'chains' })
  const onChecked = (chains: number) => progress.report(chains, sources.length)
  return nodes.checkNodes(config, sources, world.nowMs, new AbortController().signal, onChecked).finally(progress.end)
}

async function print(world: World, findings: readonly Finding[]): Promise<void> {
  const paint = paintOf(world)
  const levels = { ok: paint.green, warn: paint.yellow, fail: paint.red }
  for (const { level, what, fix } of findings)
    await world.out.line(
      `${levels[level](level.padEnd(4))}  ${shown(what)}${fix === undefined ? '' : ` → ${shown(fix)}`}`,
    )
}

/** Reasons come from nodes and brokers: they may hold addresses with secrets, and codes that move the cursor. */
const shown = (text: string): string =>
  printable(
    text
      .replaceAll('\n', ' ')
      .replaceAll(/(\w:\/\/)[^\s/@]*@/g, '$1')
      .replaceAll(/(\w:\/\/[^\s?]+)\?\S*/g, '$1'),
  )

function readConfig(world: World, options: DoctorOptions, findings: Finding[]): Config | undefined {
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
