import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

const root = repositoryRoot()

/** The module a file belongs to, as named in the rules. */
function moduleOf(file: string): string {
  const [top, service, part] = relative(root, file).split('/')
  if (top !== 'services') return top ?? ''
  return service === 'core' ? `core/${part}` : (service ?? '')
}

/** What each module may import besides itself and packages. */
const CORE = ['domain', 'runtime', 'config', 'data-dir', 'log', 'store', 'coordination', 'keys'].map(
  (module) => `core/${module}`,
)
const SERVICES = ['ingest', 'aggregate', 'serve']
const ALLOWED: Record<string, readonly string[]> = {
  'core/domain': [],
  'core/runtime': ['core/domain'],
  'core/config': ['core/domain', 'core/runtime'],
  'core/data-dir': ['core/domain', 'core/runtime'],
  'core/log': ['core/domain', 'core/runtime', 'schemas'],
  'core/store': ['core/domain', 'core/runtime', 'schemas'],
  // Processes coordinate through tables in the log.
  'core/coordination': ['core/domain', 'core/runtime', 'core/config', 'core/data-dir', 'core/log'],
  'core/keys': ['core/domain', 'core/runtime', 'core/data-dir', 'core/log', 'core/coordination'],
  // Services share schemas, never each other's code.
  ...Object.fromEntries(SERVICES.map((service) => [service, [...CORE, 'schemas']])),
  processes: [...CORE, ...SERVICES, 'schemas'],
  // A front end of the public interface: it imports the client as the package @dextape/client.
  dashboard: [],
  // `watch` is a client like any other.
  cli: [...CORE, ...SERVICES, 'processes', 'schemas', 'clients'],
}

/** Modules that must not import packages, so that they do no I/O. */
const PURE = ['core/domain']

const files = readdirSync(join(root, 'services'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join(root, 'services', name))

function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  const found = source.matchAll(/^\s*(?:import|export)\b[^'"]*?from\s+'([^']+)'|import\(\s*['"`]([^'"`]+)['"`]/gm)
  return [...found].flatMap(([, fixed, dynamic]) => fixed ?? dynamic ?? [])
}

describe('imports between modules', () => {
  it('have a rule for every module of services', () => {
    expect([...new Set(files.map(moduleOf))].filter((module) => !(module in ALLOWED))).toEqual([])
  })

  it('follow the rules', () => {
    const broken = files.flatMap((file) =>
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => resolve(dirname(file), name))
        .filter((target) => moduleOf(target) !== moduleOf(file) && !ALLOWED[moduleOf(file)]?.includes(moduleOf(target)))
        .map((target) => `${relative(root, file)} imports ${relative(root, target)}`),
    )
    expect(broken).toEqual([])
  })

  it('of the domain include no package', () => {
    const broken = files
      .filter((file) => PURE.includes(moduleOf(file)))
      .flatMap((file) =>
        importsOf(file)
          .filter((name) => !name.startsWith('.'))
          .map((name) => `${relative(root, file)}: ${name}`),
      )
    expect(broken).toEqual([])
  })

  it('keep the fold pure: no file, clock, network or randomness', () => {
    const fold = files.filter((file) => /services\/aggregate\/(fold|state)\//.test(file))
    const impure = fold.filter((file) =>
      /from 'node:|Date\.now|Math\.random|process\./.test(readFileSync(file, 'utf8')),
    )
    expect(impure.map((file) => relative(root, file))).toEqual([])
  })
})
