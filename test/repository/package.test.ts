/**
 * The package as a new user gets it: packed, installed into an empty folder, started with npx. A long run installs it with npm,
 * which unpacks 800 MB. Every run unpacks it beside links to the dependencies it declares, and to nothing else.
 */
import { type ExecFileException, execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../clients/typescript/src/index.js'
import { repositoryRoot } from '../../schemas/avro.js'
import type { StatusReport } from '../../services/serve/status-report.js'
import { isLongRun } from '../rig/counts.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const root = repositoryRoot()
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  dependencies: Record<string, string>
}

/** The user's npm, without the settings of the npm that runs the tests. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (error: ExecFileException | null, out: string, err: string) =>
      error === null ? resolve(out) : reject(new Error(`${command} ${args.join(' ')} failed:\n${out}\n${err}`))
    execFile(command, args, { cwd, env: environment, maxBuffer: 2 ** 26 }, done)
  })
}

async function installWithNpm(tarball: string, home: string): Promise<void> {
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], home)
}

async function unpackBesideDependencies(tarball: string, home: string): Promise<void> {
  const modules = join(home, 'node_modules')
  const installed = join(modules, 'dextape')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed], home)
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../dextape/services/cli/dextape.js', join(modules, '.bin/dextape'))
  chmodSync(join(installed, 'services/cli/dextape.js'), 0o755)
}

describe('a checkout', () => {
  it('runs npx dextape for the first time without another build', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'dextape-npx-'))
    const builtMs = () => statSync(join(root, 'dist/bundle/main.js')).mtimeMs
    const before = builtMs()
    const args = ['--cache', cache, 'dextape', '--version']
    expect(await run('npx', args, root)).toBe(`${version}\n`)
    expect(builtMs()).toBe(before)
    rmSync(cache, { recursive: true, force: true })
  })
})

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-package-'))
  const home = join(folder, 'empty')
  let files: string[]
  let up: UpProcess | undefined

  beforeAll(async () => {
    // Without prepack, which would remove the build that other tests are running.
    const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], root)
    const [tarball] = JSON.parse(packed) as { filename: string; files: { path: string }[] }[]
    files = tarball?.files.map(({ path }) => path) ?? []
    mkdirSync(home)
    const install = isLongRun() ? installWithNpm : unpackBesideDependencies
    await install(join(folder, tarball?.filename ?? ''), home)
  }, 300_000)
  afterAll(async () => {
    await up?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has compiled code and the files it reads, but no tests or sources', () => {
    const kinds = new Set(
      files.map((path) => path.replace(/^(dist\/bundle|dist\/dashboard\/assets)\/.*\.(cjs|js|css)$/, '$1/*.$2')),
    )
    expect([...kinds].filter((path) => !/^(schemas|services\/serve\/pages\/static)\//.test(path)).sort()).toEqual([
      ...['LICENSE', 'README.md', 'dist/bundle/*.cjs', 'dist/bundle/*.js', 'dist/bundle/LICENSES.txt'],
      ...['dist/dashboard/LICENSES.txt', 'dist/dashboard/assets/*.css', 'dist/dashboard/assets/*.js'],
      ...['dist/dashboard/index.html', 'package.json', 'services/cli/dextape.js'],
    ])
    expect(files.filter((path) => /\.(ts|map|tsbuildinfo)$|test/.test(path))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['schemas/geyser.proto', 'schemas/clickhouse/0001_events.sql']))
  })

  it('loads the SDK of the Model Context Protocol only when it is used', () => {
    const bundle = join(root, 'dist/bundle')
    const isLoaded = (file: string) => /modelcontextprotocol/.test(readFileSync(join(bundle, file), 'utf8'))
    expect(readdirSync(bundle).filter((file) => file.endsWith('.cjs') && isLoaded(file))).not.toEqual([])
    const loaded = new Set(['main.code.cjs', 'rest-thread.code.cjs'])
    // Files added on the way are visited too.
    for (const file of loaded) {
      const imports = readFileSync(join(bundle, file), 'utf8').matchAll(/^\S.*\brequire\("\.\/([^"]+)"\)/gm)
      for (const [, name = ''] of imports) loaded.add(name)
    }
    expect(loaded.size).toBeGreaterThan(10)
    expect([...loaded].filter(isLoaded)).toEqual([])
  })

  it('prints its version', async () => {
    expect(await run('npx', ['dextape', '--version'], home)).toBe(`${version}\n`)
  })

  it('starts with npx dextape up, serves its pages and pushes', async () => {
    const config = { simulator: { history_h: 0 } }
    up = startUp({ dataDir: join(home, 'data'), config, command: ['npx', 'dextape'] })
    const { rest, key = '' } = await up.serving
    const status = (await (await fetch(`${rest}/status`)).json()) as StatusReport
    expect(status).toMatchObject({ version, simulated: true, push: { server: expect.any(String) } })
    for (const page of ['/', '/reference', '/openapi.json', '/asyncapi.json', '/ready'])
      expect([page, (await fetch(`${rest}${page}`)).status]).toEqual([page, 200])
    const client = createClient({ url: rest, key })
    for await (const { topic } of client.subscribe(['tx', '*', 'solana'])) if (topic === 'tx') break
    await up.stop()
  })

  it('serves the Model Context Protocol with npx dextape mcp', async () => {
    const transport = new StdioClientTransport({
      ...{ command: 'npx', args: ['dextape', 'mcp', '--key', 'dx_any', '--url', 'http://127.0.0.1:1'], cwd: home },
      stderr: 'ignore',
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('run_sql')
    await client.close()
  })
})
