/**
 * Packages that the EVM tests and benchmarks fetch from the npm registry outside package.json: a local node is built for some
 * platforms only, one package has a dependency that cannot be installed, one is only compared with. Fetched once into the user's cache;
 * concurrent processes wait for the one that fetches.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holding, run } from '../python/venv.js'
import { USER_CACHE } from '../user-cache.js'

export type Part = {
  package: string
  version: string
  /** Undeclared dependencies, as npm arguments. */
  beside?: readonly string[]
  /** `alone`: only the package's files, without its scripts; `whole`: with all dependencies. */
  as: 'alone' | 'whole'
  why: string
}

export const ANVIL: Part = {
  package: '@foundry-rs/anvil-linux-amd64',
  version: '1.7.1',
  as: 'alone',
  why: 'it is the local EVM node of the tests (19 MB, once)',
}

export const HARDHAT: Part = {
  package: 'hardhat',
  version: '2.28.6',
  as: 'whole',
  why: 'it is the local EVM node of the tests where anvil is not built for the platform (140 MB, once)',
}

export const PANCAKE_V2: Part = {
  package: '@pancakeswap-libs/pancake-swap-core',
  version: '0.1.0',
  as: 'alone',
  why: 'it holds the bytecode of the Pancake V2 contracts (1 MB, once)',
}

/** The folder of the package, fetched if needed. */
export async function fetched(part: Part): Promise<string> {
  const folder = join(USER_CACHE, `${part.package.replace('/', '-').replace('@', '')}-${part.version}`)
  const inside = part.as === 'alone' ? join(folder, 'package') : join(folder, 'node_modules', part.package)
  if (existsSync(folder)) return inside
  mkdirSync(USER_CACHE, { recursive: true })
  await holding(`${folder}.lock`, async () => {
    if (existsSync(folder)) return
    const unfinished = `${folder}.part`
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished)
    process.stderr.write(`fetching ${part.package} ${part.version} from the npm registry into ${folder}: ${part.why}\n`)
    await (part.as === 'alone' ? unpack(part, unfinished) : install(part, unfinished))
    // The folder appears only once it is complete.
    renameSync(unfinished, folder)
  })
  return inside
}

async function unpack(part: Part, folder: string): Promise<void> {
  await must(part, 'npm', ['pack', `${part.package}@${part.version}`, '--silent', '--pack-destination', folder], folder)
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`npm pack ${part.package}@${part.version} left no archive in ${folder}`)
  await must(part, 'tar', ['xzf', archive], folder)
  rmSync(join(folder, archive))
}

async function install(part: Part, folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  await must(
    part,
    'npm',
    ['install', '--prefix', folder, ...quiet, `${part.package}@${part.version}`, ...(part.beside ?? [])],
    folder,
  )
}

async function must(part: Part, command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, out } = await run(command, args, { cwd })
  if (code === 0) return
  throw new Error(
    `${part.package} ${part.version} is missing and could not be fetched: ${part.why}. ` +
      `See why with: ${command} ${args.join(' ')}\n${out}`,
  )
}
