/** The bill of materials lists what an installation brings: nothing of development, each with a licence that may be passed on. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

type Component = { name: string; version: string; scope: string; hashes?: object[]; licenses?: object[] }
type Bom = { bomFormat: string; metadata: { component: { name: string } }; components: Component[] }

it('lists every dependency with version, hash and licence', () => {
  const root = repositoryRoot()
  const folder = mkdtempSync(join(tmpdir(), 'dextape-sbom-'))
  const file = join(folder, 'sbom.json')
  execFileSync(process.execPath, [join(root, 'infra/sbom.mjs'), file], { stdio: ['ignore', 'ignore', 'ignore'] })
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(file, 'utf8')) as Bom
  rmSync(folder, { recursive: true })
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'dextape'])
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const names = new Set(components.map(({ name }) => name))
  const known = Object.entries(dependencies ?? {}).map(([name, wanted]) => /^npm:(.+)@/.exec(wanted)?.[1] ?? name)
  expect(known.filter((name) => !names.has(name))).toEqual([])
  expect(
    ['vitest', 'typescript', 'playwright-core'].filter((name) => name in (devDependencies ?? {}) && names.has(name)),
  ).toEqual([])
  // Native builds for other machines are in the lock file without their hash: npm checks them where they are installed.
  const unchecked = components.filter(({ hashes, scope }) => hashes === undefined && scope === 'required')
  expect(unchecked.map(({ name }) => name)).toEqual([])
  const licences = JSON.stringify(components.map(({ licenses }) => licenses))
  expect(licences).not.toMatch(/"(A?GPL|SSPL|BUSL)/)
}, 30_000)
