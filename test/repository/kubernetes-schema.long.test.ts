/** Kubernetes' own schemas accept the manifests, without fields they do not know; the schemas come with a package of PyPI. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { repositoryRoot } from '../../schemas/avro.js'
import { pythonTools, run } from '../rig/python/venv.js'

/** The oldest and the newest that the package knows. */
const VERSIONS = ['1.25', '1.37']
const folder = join(repositoryRoot(), 'infra/kubernetes')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const { resources } = parse(read('kustomization.yaml')) as { resources: string[] }
const scratch = mkdtempSync(join(tmpdir(), 'dextape-kubernetes-'))
let tools: string

beforeAll(async () => {
  tools = await pythonTools('kubernetes')
}, 300_000)
afterAll(() => rmSync(scratch, { recursive: true }))

const validate = (version: string, files: readonly string[]) =>
  run(join(tools, 'python'), ['-m', 'kubernetes_validate', '--strict', '-k', version, ...files])

describe.each(VERSIONS)('Kubernetes %s', (version) => {
  it('accepts every manifest', { timeout: 60_000 }, async () => {
    const { code, out } = await validate(
      version,
      resources.map((name) => join(folder, name)),
    )
    const documents = resources.flatMap((name) => parseAllDocuments(read(name)))
    expect(out.match(/^INFO .* passed .*$/gm)?.length, out).toBe(documents.length)
    expect(code, out).toBe(0)
  })

  it('rejects a field of the wrong type, and one that is misspelt', { timeout: 60_000 }, async () => {
    const [serve] = parseAllDocuments(read('serve.yaml'))
    const manifest = serve?.toJS() as { kind: string; spec: object }
    const files = [{ replicas: 'two' }, { replica: 2 }].map((wrong, at) => {
      const file = join(scratch, `${at}.yaml`)
      writeFileSync(file, stringify({ ...manifest, spec: { ...manifest.spec, ...wrong } }))
      return file
    })
    for (const file of files) {
      const { code, out } = await validate(version, [file])
      expect([code, out]).toEqual([1, expect.stringMatching(/'two' is not|'replica' was unexpected/)])
    }
  })
})
